import { hash } from 'node:crypto'
import { BailiwickError } from '../base/errors.ts'

/** What one request to a registry wants. */
interface RegistryRequest {
  /** Path under `/v2/`. */
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
 * One request to a registry that the operator allows, as the distribution specification has it: a token is requested
 * where the registry wants one. Redirects and token servers must be among the allowed hosts too, so that no answer
 * makes us call another address. Throws `source-unreadable` for everything but a valid answer.
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
    // reported below
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

/** A repository in a registry that may be asked. */
export interface RegistryPlace {
  readonly host: RegistryHost
  readonly repository: string
  readonly anonymous: boolean
}

const PAGE = 1000
const MAX_TAGS = 20_000
const MAX_PAGES = 100
const MAX_BYTES = 4 * 1024 * 1024
const TAG = /^\w[\w.-]{0,127}$/

/**
 * The tags of a repository, as the distribution specification pages them; undefined where it does not exist or may not be
 * read. Throws `source-unreadable` for more than 20,000: the latest version must not be chosen among some of them.
 */
export async function listTags(hosts: readonly RegistryHost[], place: RegistryPlace): Promise<string[] | undefined> {
  const { host, repository } = place
  const path = `${repository}/tags/list`
  const tags = new Set<string>()
  let query: string | undefined = `?n=${PAGE}`
  for (let page = 0; query !== undefined; page++) {
    if (page === MAX_PAGES)
      throw unreadable(`${host.host} lists the tags of ${repository} on more than ${MAX_PAGES} pages`)
    const { status, headers, bytes } = await askRegistry(hosts, host, {
      ...place,
      path: `${path}${query}`,
      limit: MAX_BYTES,
    })
    if (page === 0 && (status === 404 || status === 401 || status === 403)) return undefined
    if (status !== 200) throw unreadable(`${host.host} answers with status ${status} when asked for tags`)
    for (const tag of tagsIn(bytes, host)) tags.add(tag)
    if (tags.size > MAX_TAGS) throw unreadable(`${repository} on ${host.host} has more than ${MAX_TAGS} tags`)
    query = nextQuery(headers.get('link'), host, path)
  }
  return [...tags]
}

function tagsIn(bytes: Uint8Array, { host }: RegistryHost): string[] {
  try {
    const { tags } = JSON.parse(Buffer.from(bytes).toString('utf8'))
    // a repository without tags answers null
    if (tags === null) return []
    if (Array.isArray(tags)) return tags.filter(tag => typeof tag === 'string' && TAG.test(tag))
  } catch {
    // reported below
  }
  throw unreadable(`${host} answers with something else than a list of tags`)
}

/** Of the next page, which is the same list and no other address. */
function nextQuery(link: string | null, { host, scheme }: RegistryHost, path: string): string | undefined {
  if (link === null) return undefined
  const base = `${scheme}://${host}/v2/${path}`
  const [, target] = /^\s*<([^<>]{1,2000})>\s*;\s*rel="?next"?\s*$/.exec(link) ?? []
  const url = target === undefined ? null : URL.parse(target, base)
  if (url && `${url.origin}${url.pathname}` === base && url.username === '' && url.search !== '') return url.search
  throw unreadable(`${host} leads from one page of tags to another address`)
}

/** A registry that the operator lets this process ask. */
export interface RegistryHost {
  /** As artifacts name it: `ghcr.io`, `registry.acme.test:5000`. */
  readonly host: string
  /** `http` only where the operator wrote so. */
  readonly scheme: 'https' | 'http'
  /** `Basic ...`; secret: not enumerable. */
  readonly authorization?: string
}

const HOST = /^(?:(https?):\/\/)?([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[1-9]\d{0,4})?)$/

/**
 * Reads a list of hosts, separated by commas, and the credentials for them in the form of Docker's config.json. Undefined for
 * an entry that is not a host: the caller names the variable. Throws `config` for credentials that cannot be read, without
 * quoting them.
 */
export function registryHosts(list: string, credentials = '{}'): readonly RegistryHost[] | undefined {
  const known = readCredentials(credentials)
  const hosts: RegistryHost[] = []
  for (const entry of list.split(',').map(one => one.trim())) {
    const [, scheme = 'https', host] = HOST.exec(entry) ?? []
    if (host === undefined) return undefined
    const one = { host, scheme: scheme as RegistryHost['scheme'] }
    const authorization = known.get(host)
    if (authorization !== undefined) Object.defineProperty(one, 'authorization', { value: authorization })
    hosts.push(Object.freeze(one))
  }
  return hosts
}

/** Docker writes its own registry under the address of its first version. */
const DOCKER_HUB = 'https://index.docker.io/v1/'

function readCredentials(text: string): Map<string, string> {
  const wrong = (what: string) =>
    new BailiwickError('config', `OCI_CREDENTIALS_FILE ${what}`, {
      fix: 'Write it as Docker does: {"auths": {"ghcr.io": {"auth": "<base64 of user:token>"}}}.',
    })
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw wrong('is not JSON')
  }
  const auths = (parsed as { auths?: unknown } | null)?.auths ?? {}
  if (typeof auths !== 'object' || auths === null || Array.isArray(auths)) throw wrong('has no map "auths"')
  const known = new Map<string, string>()
  for (const [address, entry] of Object.entries(auths as Record<string, unknown>)) {
    const { auth, username, password } = (entry ?? {}) as Record<string, unknown>
    const plain = typeof username === 'string' && typeof password === 'string' ? `${username}:${password}` : undefined
    const encoded = typeof auth === 'string' && auth !== '' ? auth : plain && Buffer.from(plain).toString('base64')
    if (!encoded || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) throw wrong('has an entry without "auth"')
    const host =
      address === DOCKER_HUB ? 'registry-1.docker.io' : address.replace(/^https?:\/\//, '').replace(/\/.*$/, '')
    known.set(host, `Basic ${encoded}`)
  }
  return known
}
