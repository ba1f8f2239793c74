import type { ProbotOctokit } from 'probot'
import { BailiwickError } from '../../base/errors.ts'
import { type Message, message, part, type ValueType } from '../../base/message.ts'
import { repositoryPart } from './octokit.ts'

/** Documented: without a header wait at least a minute. */
const LIMIT_SECONDS = 60

type Client = InstanceType<typeof ProbotOctokit>

/**
 * Has every request of a client fail with an error that names what was asked for: `github-unavailable` (try again: rate limit,
 * IP allow list, 409, 5xx, network), `not-permitted` (401, 403), `git-missing` (404, 410) or `internal` (anything else: a wrong
 * request). No body, header or address of the answer gets into a message. Comes after a client's other hooks, which read GitHub's answer.
 */
export function nameErrors(client: Client): Client {
  client.hook.wrap('request', async (request, options) => {
    try {
      return await request(options)
    } catch (error) {
      // a token is made within another request, which names what it was for
      if (TOKEN.test(options.url)) throw error
      const { method, url } = client.request.endpoint(options)
      throw Object.assign(githubError(askedFor(method, url), error), { status: statusOf(error), request: { method } })
    }
  })
  return client
}

/** Where tokens are made; it changes nothing. */
export const TOKEN = /\/app\/installations\/[^/]+\/access_tokens$/

/** The answer to a request; undefined where GitHub answers that it does not exist. */
export async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    const status = statusOf(error)
    // 409 on a read is "Git Repository is empty", see GitHub's OpenAPI text of git/get-ref and repos/list-commits
    if (status === 404 || status === 410 || (status === 409 && methodOf(error) === 'GET')) return undefined
    throw error
  }
}

/** The failure of a call as a BailiwickError; an error that is one already stays as it is. */
export function githubError(what: Message, error: unknown): BailiwickError {
  if (error instanceof BailiwickError) return error
  const status = statusOf(error)
  if (status === undefined && !isNetwork(error)) {
    return new BailiwickError('internal', message`Could not ${what}: unexpected failure in our own code`, {
      cause: error,
    })
  }
  const retryAfter = retryAfterOf(error)
  // both are GitHub's rate limits: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
  if (status === 429 || (status === 403 && retryAfter !== undefined)) {
    return unavailable(what, status, retryAfter ?? LIMIT_SECONDS, true)
  }
  if (status === undefined || status >= 500 || status === 408 || status === 409) {
    return unavailable(what, status, retryAfter, false)
  }
  if (status === 403 && isAllowList(error)) {
    return new BailiwickError(
      'github-unavailable',
      message`Could not ${what}: the IP allow list of the account refuses the address of Bailiwick (status 403)`,
      { fix: "Add the addresses from which Bailiwick calls GitHub to the organization's IP allow list." },
    )
  }
  if (status === 401 || status === 403) {
    return new BailiwickError('not-permitted', message`Bailiwick cannot ${what}: GitHub answers ${status}`, {
      fix:
        missingPermission(error) ??
        "Check the App's permissions, its installation and that the repository is among the selected ones.",
    })
  }
  if (status === 404 || status === 410) {
    return new BailiwickError(
      'git-missing',
      message`Could not ${what}: GitHub has no such thing, or hides it from the App`,
    )
  }
  return new BailiwickError('internal', message`Could not ${what}: GitHub refused the request (status ${status})`, {
    cause: plainCause(error),
  })
}

function unavailable(
  what: Message,
  status: number | undefined,
  retryAfter: number | undefined,
  limited: boolean,
): BailiwickError {
  const why = status === undefined ? message`no answer` : message`status ${status}`
  const when = retryAfter === undefined ? message`` : message`; it asks to come back in ${retryAfter} s`
  return new BailiwickError('github-unavailable', message`Could not ${what}: GitHub is not available (${why})${when}`, {
    retryAfter,
    limited,
  })
}

/** HTTP status of a failed call; undefined when there was no answer. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined
  // octokit gives network failures and aborts the status 500 without a response
  return error instanceof BailiwickError || responseHeaders(error) ? error.status : undefined
}

function methodOf(error: unknown): string | undefined {
  const request = error instanceof Error && 'request' in error ? error.request : undefined
  return isRecord(request) && typeof request.method === 'string' ? request.method : undefined
}

function isNetwork(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('status' in error || ['AbortError', 'TimeoutError'].includes(error.name)) return true
  // fetch reports a torn body as TypeError('terminated' | 'fetch failed') with a cause of undici
  const code = 'code' in error ? error.code : isRecord(error.cause) ? error.cause.code : undefined
  return typeof code === 'string' && /^(E[A-Z]+|UND_ERR_\w+|Z_\w+)$/.test(code)
}

/** Seconds until GitHub accepts requests again: `retry-after`, or the reset of an exhausted primary limit. */
function retryAfterOf(error: unknown): number | undefined {
  const headers = responseHeaders(error)
  if (!headers) return undefined
  const after = Number(headers['retry-after'] ?? Number.NaN)
  if (Number.isFinite(after) && after >= 0) return Math.ceil(after)
  if (String(headers['x-ratelimit-remaining'] ?? '') === '0') {
    const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN)
    if (Number.isFinite(reset)) return Math.max(1, Math.ceil(reset - Date.now() / 1000))
  }
  const message = error instanceof Error ? error.message : ''
  return /secondary rate limit/i.test(message) ? LIMIT_SECONDS : undefined
}

/**
 * Whether the answer is about from where we ask, not about what we may: someone edits that list, or an address of ours
 * is new, and the same request succeeds again. GitHub tells it by these words only:
 * https://docs.github.com/en/enterprise-cloud@latest/organizations/keeping-your-organization-secure/managing-security-settings-for-your-organization/managing-allowed-ip-addresses-for-your-organization
 */
function isAllowList(error: unknown): boolean {
  return error instanceof Error && /\bhas an IP allow list enabled\b/i.test(error.message)
}

/** The permission that GitHub says it lacks: https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api */
function missingPermission(error: unknown): string | undefined {
  const accepted = String(responseHeaders(error)?.['x-accepted-github-permissions'] ?? '')
  const [, name, level] = /^([a-z]{1,20}(?:_[a-z]{1,20}){0,3})=(read|write)\b/.exec(accepted) ?? []
  if (name === undefined) return undefined
  const words = name.replaceAll('_', ' ').replace(/^./, first => first.toUpperCase())
  return `Grant the App \`${words}: ${level}\` on its settings page, and accept it where the App is installed.`
}

function responseHeaders(error: unknown): Record<string, unknown> | undefined {
  const response = error instanceof Error && 'response' in error ? error.response : undefined
  return isRecord(response) && isRecord(response.headers) ? response.headers : undefined
}

function plainCause(error: unknown): Error {
  const message = error instanceof Error ? error.message : ''
  return new Error(message.replace(/[^\x20-\x7e]/g, ' ').slice(0, 300))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** What an address asks for, and the type of the name in it; the first that fits counts. */
const ADDRESSES = [
  [/^contents\/(.+)/, 'the file', 'path'],
  [/^branches\/([^/]+)\/protection$/, 'the protection of branch', 'branch'],
  [/^branches\/([^/]+)$/, 'branch', 'branch'],
  [/^rules\/branches\/([^/]+)$/, 'the rules of branch', 'branch'],
  [/^rulesets/, 'rulesets'],
  [/^git\/refs?\/(.+)/, 'the ref', 'branch'],
  [/^git\/refs$/, 'a branch'],
  [/^git\/matching-refs/, 'the merge queue'],
  [/^git\/commits\/([0-9a-f]+)$/, 'commit', 'value'],
  [/^git\/trees\/([0-9a-f]+)$/, 'tree', 'value'],
  [/^git\/blobs\/([0-9a-f]+)$/, 'blob', 'value'],
  [/^git\/tags\//, 'a tag'],
  [/^git\/commits/, 'a commit'],
  [/^git\/trees/, 'a tree'],
  [/\bcheck-runs\b/, 'check runs'],
  [/^commits\/.+\/pulls$/, 'the pull requests of a commit'],
  [/^compare\b/, 'the difference of two branches'],
  [/^tarball/, 'the archive'],
  [/^collaborators\/([^/]+)\/permission$/, 'the permission of', 'identity'],
  [/^collaborators/, 'the collaborators'],
  [/^activity/, 'the moves of a branch'],
  [/^keys/, 'deploy keys'],
  [/^installation$/, 'the installation'],
  [/\blabels\b/, 'labels'],
  [/\breactions$/, 'reactions'],
  [/\bcomments\b/, 'comments'],
  [/\breviews$/, 'reviews'],
  [/\bevents$/, 'events'],
  [/\bfiles$/, 'changed files'],
  [/\bcommits$/, 'commits'],
  [/^issues/, 'issues'],
  [/^pulls/, 'pull requests'],
  [/\bmemberships\//, 'memberships'],
  [/\bdeliveries\b/, 'deliveries of webhooks'],
  [/\binstallation\/repositories$/, 'the repositories of the installation'],
  [/\binstallations\b/, 'installations'],
  [/\bapp\b/, 'the App'],
  [/\binstallation\/token$/, 'a token'],
  [/\bmeta$/, 'what GitHub publishes of itself'],
] as const satisfies readonly (readonly [RegExp, string, ValueType?])[]

/** What a request asks of GitHub, after "could not": "read branch "main" of acme/fleet". */
export function askedFor(method: string, url: string): Message {
  const verb = method === 'GET' ? 'read' : method === 'DELETE' ? 'delete' : 'write'
  const { pathname } = new URL(url)
  const [, owner, repo, below] = /\/repos\/([^/]+)\/([^/]+)\/?(.*)/.exec(pathname) ?? []
  const what = wordsOf(below ?? pathname)
  if (owner === undefined || repo === undefined) return message`${verb} ${what}`
  const number = /^(?:issues|pulls)\/(\d+)/.exec(below ?? '')?.[1]
  const where = repositoryPart({ owner, repo }, number === undefined ? undefined : Number(number))
  return below === '' ? message`${verb} the repository ${where}` : message`${verb} ${what} of ${where}`
}

function wordsOf(path: string): Message {
  for (const [address, words, type] of ADDRESSES) {
    const found = address.exec(path)
    if (!found) continue
    const name = type && found[1] && decodeURIComponent(found[1])
    return name
      ? message`${words} ${part(type, name, type === 'branch' ? JSON.stringify(name) : name)}`
      : message`${words}`
  }
  return message`what was asked for`
}
