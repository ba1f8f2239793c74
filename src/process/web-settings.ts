import { address, badVariable, type Environment, optional } from './environment.ts'
import { isLoopbackHost } from './loopback.ts'

/** How people reach the pages and the metrics. */
export interface WebSettings {
  /** Where people reach the web process, without a slash at the end; absent: checks link to no page. */
  readonly publicUrl: string | undefined
  /** Of the GitHub App's OAuth; absent: nobody signs in. */
  readonly clientId: string | undefined
  /** Secret. */
  readonly clientSecret: string | undefined
  /** Secret; absent: there are no metrics. */
  readonly metricsToken: string | undefined
}

/** Reads the web settings. Throws `config` if one is invalid or its counterpart is missing. */
export function readWebSettings(env: Environment): WebSettings {
  const settings = {
    publicUrl: publicUrl(env),
    clientId: optional(env, 'CLIENT_ID'),
    clientSecret: optional(env, 'CLIENT_SECRET'),
    metricsToken: metricsToken(env),
  }
  const { clientId, clientSecret } = settings
  if (clientId !== undefined && !/^[\w.-]{1,100}$/.test(clientId)) {
    throw badVariable(
      'CLIENT_ID',
      'is not a client ID',
      'copy the "Client ID" from the settings page of the GitHub App',
    )
  }
  if (clientId !== undefined && clientSecret === undefined) {
    throw badVariable('CLIENT_SECRET', 'is missing', 'generate a client secret on the settings page of the GitHub App')
  }
  if (clientId === undefined && clientSecret !== undefined) {
    throw badVariable('CLIENT_SECRET', 'is set without CLIENT_ID', 'set both, or neither')
  }
  if (clientId !== undefined && settings.publicUrl === undefined) {
    throw badVariable(
      'PUBLIC_URL',
      'is missing',
      'set it to the address of the web process, to which GitHub redirects people',
    )
  }
  return settings
}

function publicUrl(env: Environment): string | undefined {
  const url = address(env, 'PUBLIC_URL', ['https', 'http'])
  if (url === undefined) return undefined
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
    throw badVariable('PUBLIC_URL', 'would show pages unencrypted', 'use https; http is for this machine only')
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw badVariable(
      'PUBLIC_URL',
      'has more than a scheme, a host and a port',
      'write it like https://bailiwick.example.com',
    )
  }
  return url.origin
}

function metricsToken(env: Environment): string | undefined {
  const token = optional(env, 'METRICS_TOKEN')
  if (token === undefined || /^[\x21-\x7e]{16,500}$/.test(token)) return token
  throw badVariable(
    'METRICS_TOKEN',
    'is shorter than 16 characters, or has spaces',
    'generate one with `openssl rand -hex 32`',
  )
}
