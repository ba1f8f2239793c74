import { hash } from 'node:crypto'
import { BailiwickError } from '../errors.ts'
import type { RegistryHost } from './registry-hosts.ts'

/** What one request to a registry wants. */
interface RegistryRequest {
  /** Path below `/v2/`. */
  readonly path: string
  readonly method?: 'GET' | 'HEAD'
  readonly accept?: readonly string[]
  /** Bytes of the answer that are read at most. */
  readonly limit: number
  /** Without the operator's credentials. */
  readonly anonymous: boolean
  /** Repository of the host, for the scope of a token. */
  readonly repository: string
}

interface RegistryAnswer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array
}

const TIMEOUT_MS = 60_000
const MAX_REDIRECTS = 4
const MAX_TOKEN_BYTES = 1024 * 1024
const DIGEST = /^sha256:[0-9a-f]{64}$/

/**
 * One request to a registry that the operator allows, as the distribution specification has it: a token is asked for where
 * the registry wants one. Redirects and token servers must be among the allowed hosts too, so that no answer makes us call
 * another address. Throws `source-unreadable` for everything that is no answer.
 */
export async function askRegistry(
  hosts: readonly RegistryHost[],
  host: RegistryHost,
  request: RegistryRequest,
): Promise<RegistryAnswer> {
  const url = new URL(`${host.scheme}://${host.host}/v2/${request.path}`)
  const basic = request.anonymous ? undefined : host.authorization
  const first = await follow(hosts, url, request, undefined)
  if (first.status !== 401) return first
  const challenge = first.headers.get('www-authenticate') ?? ''
  if (/^basic\b/i.test(challenge)) return basic ? await follow(hosts, url, request, basic) : first
  const token = await askToken(hosts, challenge, request, host, basic)
  return token === undefined ? first : await follow(hosts, url, request, `Bearer ${token}`)
}

/** Throws `source-unreadable` where the bytes are not those that the digest names. */
export function assertDigest(bytes: Uint8Array, digest: string, host: RegistryHost): void {
  if (DIGEST.test(digest) && `sha256:${hash('sha256', bytes)}` === digest) return
  throw unreadable(`${host.host} answers with other content than the digest ${digest.slice(0, 80)} names`)
}

async function askToken(
  hosts: readonly RegistryHost[],
  challenge: string,
  { repository }: RegistryRequest,
  host: RegistryHost,
  basic: string | undefined,
): Promise<string | undefined> {
  const parameter = (name: string) => new RegExp(`[ ,]${name}="([^"]{1,500})"`, 'i').exec(challenge)?.[1]
  const realm = parameter('realm')
  if (!/^bearer\b/i.test(challenge) || realm === undefined || !URL.canParse(realm)) return undefined
  const url = new URL(realm)
  const service = parameter('service')
  if (service !== undefined) url.searchParams.set('service', service)
  url.searchParams.set('scope', `repository:${repository}:pull`)
  // a token server of its own gets the credentials that the operator has for the registry: it is the registry that names it
  const { status, bytes } = await follow(hosts, url, { limit: MAX_TOKEN_BYTES, host: host.host }, basic)
  if (status === 401 || status === 403) return undefined
  try {
    const { token, access_token: access } = JSON.parse(Buffer.from(bytes).toString('utf8'))
    const found = token ?? access
    if (status === 200 && typeof found === 'string' && /^[\x21-\x7e]+$/.test(found)) return found
  } catch {
    // said below
  }
  throw unreadable(`the token server ${url.host} of ${host.host} answers with status ${status} and no token`)
}

/** `host`: the registry that leads to the address, where that is another one. */
type Want = Pick<RegistryRequest, 'limit' | 'method' | 'accept'> & { readonly host?: string }

async function follow(
  hosts: readonly RegistryHost[],
  from: URL,
  want: Want,
  authorization: string | undefined,
): Promise<RegistryAnswer> {
  let url = from
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    assertAllowed(hosts, url, want.host ?? from.host)
    // credentials are for the address that asked for them
    const ours = url.origin === from.origin ? authorization : undefined
    const response = await exchange(url, want, ours)
    if (response.status < 300 || response.status >= 400) return await readAnswer(response, want.limit, url)
    await response.body?.cancel()
    const location = response.headers.get('location') ?? ''
    if (!URL.canParse(location, url.href)) throw unreadable(`${url.host} redirects to nowhere`)
    url = new URL(location, url)
  }
  throw unreadable(`${from.host} redirects more than ${MAX_REDIRECTS} times`)
}

function assertAllowed(hosts: readonly RegistryHost[], url: URL, asked: string): void {
  const scheme = url.protocol.slice(0, -1)
  if (url.username === '' && hosts.some(one => one.host === url.host && one.scheme === scheme)) return
  const what = url.host === asked ? `${url.host} over ${scheme}` : url.host.slice(0, 253)
  throw unreadable(`${asked} leads to ${what}, which is not in OCI_HOSTS`)
}

async function exchange(
  url: URL,
  { method = 'GET', accept }: Want,
  authorization: string | undefined,
): Promise<Response> {
  const headers: Record<string, string> = { 'user-agent': 'bailiwick', 'accept-encoding': 'identity' }
  if (accept) headers.accept = accept.join(', ')
  if (authorization !== undefined) headers.authorization = authorization
  try {
    return await fetch(url, { method, headers, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) })
  } catch (cause) {
    throw unreadable(`the registry ${url.host} does not answer`, cause)
  }
}

async function readAnswer(response: Response, limit: number, url: URL): Promise<RegistryAnswer> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length
      if (size > limit) break
      chunks.push(chunk)
    }
  } catch (cause) {
    throw unreadable(`the answer of the registry ${url.host} breaks off`, cause)
  }
  if (size > limit) throw unreadable(`the registry ${url.host} answers with more than ${limit} bytes`)
  return { status: response.status, headers: response.headers, bytes: Buffer.concat(chunks) }
}

export function unreadable(what: string, cause?: unknown): BailiwickError {
  return new BailiwickError('source-unreadable', what, { cause })
}
