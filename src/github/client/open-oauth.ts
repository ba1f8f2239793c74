import { ProbotOctokit } from 'probot'
import { BailiwickError } from '../../base/errors.ts'
import type { Visibility } from '../../fleet/model/source-access.ts'
import { nameErrors } from './github-error.ts'

/** The OAuth side of the App, and where GitHub is. */
interface OAuthSettings {
  readonly clientId: string
  /** Secret. */
  readonly clientSecret: string
  /** Root of the REST API. */
  readonly apiUrl: string
}

const TIMEOUT_MS = 10_000

/**
 * The web application flow of a GitHub App, with PKCE, and what is asked with the tokens that it gives. Nothing of a token
 * or a code gets into a message. https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
 */
export function openOAuth({ clientId, clientSecret, apiUrl }: OAuthSettings) {
  const site = webUrlOf(apiUrl)
  return {
    signInUrl: ({ state, challenge, redirectUri }: SignInRequest): string => {
      const query = new URLSearchParams({
        client_id: clientId,
        redirect_uri: redirectUri,
        state,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      })
      return `${site}/login/oauth/authorize?${query}`
    },
    exchange: async ({ code, verifier, redirectUri }: CodeRequest) => {
      const request = {
        client_id: clientId,
        client_secret: clientSecret,
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      }
      const response = await ask('exchange a code', `${site}/login/oauth/access_token`, {
        method: 'POST',
        headers: { accept: 'application/json', 'content-type': 'application/json' },
        body: JSON.stringify(request),
      })
      // an invalid code is answered with 200 and an error
      const { access_token: token, expires_in: seconds = WORKING_DAY } = await fieldsOf(response)
      if (typeof token !== 'string' || token === '' || typeof seconds !== 'number') return undefined
      return { token, seconds }
    },
    login: async (token: string): Promise<string | undefined> => {
      const response = await ask('read the signed-in user', `${apiUrl}/user`, { headers: headersOf(token) })
      const { login } = response.ok ? await fieldsOf(response) : { login: undefined }
      return typeof login === 'string' ? login : undefined
    },
    repository: async (
      token: string,
      owner: string,
      repo: string,
    ): Promise<SeenRepository | 'hidden' | 'signed-out'> => {
      const path = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}`
      const response = await ask('read a repository for a signed-in user', `${apiUrl}${path}`, {
        headers: headersOf(token),
      })
      if (response.status === 401) return 'signed-out'
      if (!response.ok) return 'hidden'
      const { id, private: isPrivate, visibility } = await fieldsOf(response)
      if (typeof id !== 'number') return 'hidden'
      // visible to everyone unless GitHub says otherwise
      const isInternal = visibility === 'internal'
      const shown = isInternal ? 'internal' : isPrivate === true ? 'private' : 'public'
      return { id, visibility: shown }
    },
  }
}

interface SeenRepository {
  readonly id: number
  readonly visibility: Visibility
}

interface SignInRequest {
  readonly state: string
  readonly challenge: string
  readonly redirectUri: string
}

interface CodeRequest {
  readonly code: string
  readonly verifier: string
  readonly redirectUri: string
}

/** Tokens of Apps that let them never expire are used for a working day, too. */
const WORKING_DAY = 8 * 3_600

/** Where people see what an API serves: GitHub's own, a GitHub Enterprise Server, or one with data residency. */
function webUrlOf(apiUrl: string): string {
  const { protocol, host, hostname } = new URL(apiUrl)
  if (hostname === 'api.github.com') return 'https://github.com'
  return `${protocol}//${hostname.endsWith('.ghe.com') ? host.replace(/^api\./, '') : host}`
}

function headersOf(token: string) {
  return {
    accept: 'application/vnd.github+json',
    authorization: `Bearer ${token}`,
    'user-agent': 'bailiwick',
    'x-github-api-version': '2022-11-28',
  }
}

/** A definite answer of GitHub. Throws `github-unavailable` for an outage or a limit. */
async function ask(what: string, url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => undefined)
  const isLimited = response?.status === 429 || (response?.status === 403 && isExhausted(response.headers))
  if (response && response.status < 500 && !isLimited) return response
  throw new BailiwickError(
    'github-unavailable',
    `Could not ${what}: GitHub is not available (${response ? `status ${response.status}` : 'no answer'})`,
  )
}

function isExhausted(headers: Headers): boolean {
  return headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0'
}

async function fieldsOf(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const body: unknown = await response.json().catch(() => undefined) // a body that is not JSON has no fields
  return typeof body === 'object' && body !== null ? { ...body } : {}
}

/** What GitHub returns once, when an App was registered by its manifest. All but the first three are secrets. */
interface RegisteredApp {
  readonly id: number
  readonly clientId: string
  /** The page of the App, under which it is installed. */
  readonly url: string
  readonly clientSecret: string
  readonly webhookSecret: string
  /** PEM. */
  readonly privateKey: string
}

/**
 * Takes the App that a code of GitHub's manifest flow stands for; a code works once, within an hour, without credentials.
 * Throws `git-missing` for a code that GitHub does not know (any more), else as every request does.
 */
export async function convertManifest(apiUrl: string, code: string): Promise<RegisteredApp> {
  const quiet = () => {}
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  // asked once: a second request would find the code used up, and the secrets lost
  const options = { baseUrl: apiUrl, log, throttle: { enabled: false }, retry: { enabled: false } }
  const octokit = nameErrors(new ProbotOctokit(options))
  const { data } = await octokit.rest.apps.createFromManifest({ code })
  const { id, client_id: clientId, html_url: url, client_secret, webhook_secret, pem } = data
  if (!Number.isSafeInteger(id) || !client_secret || !webhook_secret || !pem) {
    throw new BailiwickError('github-unavailable', 'GitHub did not return all settings of the App', {
      fix: "Delete the App on GitHub's page, and register it again.",
    })
  }
  return { id, clientId, url, clientSecret: client_secret, webhookSecret: webhook_secret, privateKey: pem }
}
