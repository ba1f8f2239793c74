import { createPrivateKey, generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BailiwickError } from '../base/errors.ts'
import {
  address,
  badVariable,
  type Environment,
  isLoopbackHost,
  optional,
  required,
  variableOf,
} from './environment.ts'

/** Valid values for required settings, so that reading continues to the next problem. No process starts with them. */
const PLACEHOLDERS: ReadonlyMap<string, () => string> = new Map([
  ['APP_ID', () => '1'],
  ['WEBHOOK_SECRET', () => 'x'.repeat(32)],
  ['REDIS_URL', () => 'redis://127.0.0.1'],
  ['PUBLIC_URL', () => 'https://placeholder.invalid'],
  ['CLIENT_SECRET', () => 'placeholder'],
  ['PRIVATE_KEY', anyKey],
  ['PRIVATE_KEY_PATH', anyKey],
])
const KEYS = ['PRIVATE_KEY', 'PRIVATE_KEY_PATH']

/**
 * Reads the settings of a process. Throws the `config` error if one setting is invalid, and an AggregateError if several are, so that an
 * operator sees all of them at once.
 */
export function readSettings<T>(env: Environment, read: (env: Environment) => T): T {
  try {
    return read(env)
  } catch (error) {
    const problems = problemsOf(env, read)
    throw problems.length > 1 ? new AggregateError(problems, 'several settings are invalid') : error
  }
}

/** Every invalid setting, in reading order. Replaces each variable at most once, so it terminates. */
export function problemsOf(env: Environment, read: (env: Environment) => unknown): BailiwickError[] {
  const problems: BailiwickError[] = []
  const replaced = new Set<string>()
  for (let tried: Environment = env; ; ) {
    try {
      read(tried)
      return problems
    } catch (error) {
      if (!(error instanceof BailiwickError)) throw error
      const name = variableOf(error)
      if (name === undefined || replaced.has(name)) return problems.length > 0 ? problems : [error]
      problems.push(error)
      replaced.add(name)
      tried = without(tried, name)
    }
  }
}

function without(env: Environment, name: string): Environment {
  const placeholder = PLACEHOLDERS.get(name)?.()
  if (!KEYS.includes(name)) return { ...env, [name]: placeholder }
  return { ...env, PRIVATE_KEY_PATH: undefined, PRIVATE_KEY: placeholder }
}

function anyKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** How people reach the pages and the metrics. */
export interface WebSettings {
  /** Where people reach the web process, without a slash at the end; absent: checks link to no page. */
  readonly publicUrl: string | undefined
  /** Of the GitHub App's OAuth; absent: sign-in is off. */
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
    'generate a token with `openssl rand -hex 32`',
  )
}

/** The secrets with which GitHub signs deliveries. */
export interface WebhookSecrets {
  /** Secret. */
  readonly webhookSecret: string
  /** The one before, while it is being changed: GitHub may sign with either. Secret. */
  readonly webhookSecretPrevious: string | undefined
}

const FIX =
  'generate a webhook secret with `openssl rand -hex 32`, and set it here and on the settings page of the GitHub App'

/** Reads the webhook secrets. Throws `config` if one is missing or too easy to guess. */
export function readWebhookSecrets(env: Environment): WebhookSecrets {
  const previous = optional(env, 'WEBHOOK_SECRET_PREVIOUS')
  return {
    webhookSecret: sound('WEBHOOK_SECRET', required(env, 'WEBHOOK_SECRET', FIX)),
    webhookSecretPrevious: previous === undefined ? undefined : sound('WEBHOOK_SECRET_PREVIOUS', previous),
  }
}

function sound(name: string, secret: string): string {
  if (secret === 'development') throw badVariable(name, 'is a well-known default', FIX)
  if (secret.length < 16) throw badVariable(name, 'is shorter than 16 characters', FIX)
  return secret
}

const HOW =
  'generate a private key on the settings page of the GitHub App and set PRIVATE_KEY to its PEM text (or base64 of it), or PRIVATE_KEY_PATH to its file'

/**
 * Reads the App's private key as PKCS#8 PEM. PRIVATE_KEY may be PEM, PEM with literal `\n`, or base64 of PEM, because
 * many hosts cannot store multi-line variables. Throws `config` if it is missing or not an RSA key.
 */
export function readPrivateKey(env: Environment, readFile: (path: string) => string): string {
  const inline = optional(env, 'PRIVATE_KEY')
  const path = optional(env, 'PRIVATE_KEY_PATH')
  if (inline !== undefined && path !== undefined) {
    throw badVariable('PRIVATE_KEY', 'and PRIVATE_KEY_PATH are both set', 'keep one of them')
  }
  if (inline !== undefined) return normalise('PRIVATE_KEY', unfold(inline))
  if (path === undefined) throw badVariable('PRIVATE_KEY', 'is missing', HOW)
  return normalise('PRIVATE_KEY_PATH', readKeyFile(path, readFile))
}

function unfold(text: string): string {
  if (text.includes('-----BEGIN')) return text.replaceAll('\\n', '\n')
  return Buffer.from(text, 'base64').toString('utf8')
}

function readKeyFile(path: string, readFile: (path: string) => string): string {
  try {
    return readFile(path)
  } catch {
    throw badVariable('PRIVATE_KEY_PATH', 'names a file that cannot be read', HOW)
  }
}

function normalise(name: string, pem: string): string {
  const key = parse(pem)
  if (key?.asymmetricKeyType !== 'rsa') throw badVariable(name, 'contains no RSA private key in PEM form', HOW)
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function parse(pem: string): ReturnType<typeof createPrivateKey> | undefined {
  try {
    return createPrivateKey(pem)
  } catch {
    return undefined // the reason of the library may quote the key; ours names the variable
  }
}

/**
 * Why no file can be written into a folder, as the code of the system's error; undefined if one can. Creates the folder. It is tried,
 * because permission bits tell nothing of read-only and full disks.
 */
export function writeProblem(folder: string): string | undefined {
  const file = join(folder, `.probe-${randomUUID()}`)
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(file, 'x', { flag: 'wx' })
    rmSync(file)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown error'
  }
}
