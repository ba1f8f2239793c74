import { oncePerText } from '../base/once-per.ts'

/**
 * One spelling for the address of a repository, so that whatever git, Flux or GitHub would take to the same one compares
 * equal: `https://<host>/<path>`; host in lower case without a dot at its end, no user, no standard port, no query, no
 * escapes, empty parts or dot segments in the path, no `.git`, no trailing slash. For github.com and its other names the
 * path is in lower case too (GitHub compares so). Where readers disagree about a spelling it counts as the repository that
 * any of them would find; the rule source-url-malformed refuses it. Any other text is returned as it is.
 */
export const normaliseUrl = (url: string): string => (url.length <= 300 ? normalised : normalise)(url)

/** The same few addresses are asked for again and again. */
const normalised = oncePerText(20_000, normalise)

const PORTS: ReadonlyMap<string, string> = new Map([
  ['https:', '443'],
  ['http:', '80'],
  ['ssh:', '22'],
  ['git+ssh:', '22'],
  ['ssh+git:', '22'],
  ['git:', '9418'],
])

function normalise(url: string): string {
  const parsed = parse(url)
  const standardPort = parsed && PORTS.get(parsed.protocol)
  if (!parsed || standardPort === undefined || parsed.hostname === '') return url
  const host = unescaped(parsed.hostname).toLowerCase().replace(/\.+$/, '')
  const gitHub = gitHubHost(host)
  const path = partsOf(parsed.pathname)
  if (gitHub) return `https://${gitHub}${withoutEnd(path.toLowerCase(), /(?:\/|\.git)+$/)}`
  const port = parsed.port && parsed.port !== standardPort ? `:${parsed.port}` : ''
  return `https://${host}${port}${withoutEnd(path, /\/?\.git$/)}`
}

/** What is left of `/a/..git` ends in a dot segment, and is read as a path again. */
function withoutEnd(path: string, end: RegExp): string {
  const left = path.replace(end, '')
  return left === path || !/\/\.\.?$/.test(left) ? left : withoutEnd(partsOf(left), end)
}

/** The scp form, also behind `ssh://` as many write it, and addresses with a scheme. */
function parse(url: string): URL | undefined {
  const scp = /^(?:(?:git\+)?ssh:\/\/)?([\w.-]+@[\w.-]+):(?!\/\/)(.+)$/i.exec(url)
  // go-git, and so Flux, takes digits there for a port
  const text = scp ? `ssh://${scp[1]}${/^\d{1,5}(?:\/|$)/.test(scp[2] ?? '') ? ':' : '/'}${scp[2]}` : url
  return URL.canParse(text) ? new URL(text) : undefined
}

/** The path from its root, without escapes, empty parts and dot segments, and without a slash at its end. */
function partsOf(pathname: string): string {
  const parts: string[] = []
  for (const part of unescaped(pathname).replaceAll('\\', '/').split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.map(part => `/${part}`).join('')
}

/** Escapes of printable ASCII are the characters themselves, but for those that mean something else there. */
function unescaped(text: string): string {
  return text.replace(/%(?![0-9a-f]{2})/gi, '%25').replace(/%([0-9a-f]{2})/gi, (written, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    return /[!-~]/.test(character) && !'#%?'.includes(character) ? character : written.toUpperCase()
  })
}

/** Where a source's content comes from, in one spelling. */
export interface SourceAddress {
  /** `https` for git over ssh, too: the same repository. */
  readonly scheme: 'https' | 'http' | 'oci'
  /** In lower case, without brackets. */
  readonly host: string
  /** '' for the one of the scheme. */
  readonly port: string
  readonly parts: readonly string[]
  /** `<scheme>://<host>[:port]/<parts>`. */
  readonly text: string
}

/** How an address is written: with a scheme, as a container image, or as the endpoint of a bucket. */
type AddressForm = 'url' | 'image' | 'endpoint'

const SCHEMES: ReadonlyMap<string, { scheme: SourceAddress['scheme']; port: string }> = new Map([
  ['https', { scheme: 'https', port: '443' }],
  ['http', { scheme: 'http', port: '80' }],
  ['ssh', { scheme: 'https', port: '22' }],
  ['git+ssh', { scheme: 'https', port: '22' }],
  ['git', { scheme: 'http', port: '9418' }],
  ['oci', { scheme: 'oci', port: '443' }],
])
const DOCKER_HUB = new Set(['index.docker.io', 'registry-1.docker.io'])
/** What stands for another character than itself where addresses are compared. */
const ENCODED = /%(?:2e|2f|5c|25|40|3a|3f|23|[01][0-9a-f]|7f)|%(?![0-9a-f]{2})/i

/**
 * Reads an address; a text says why it cannot be compared: programs that match it and
 * programs that follow it would read it differently. One address stands for all spellings: https, ssh and scp forms, `.git`, a
 * slash at the end, the case of the host, standard ports, escaped letters, names of github.com; there the case of the path, too.
 */
export function readAddress(written: string, form: AddressForm): SourceAddress | string {
  if (written === '') return 'is empty'
  if (written.length > 2000) return 'is longer than 2000 characters'
  if (/[^\x21-\x7e]/.test(written)) return 'has blanks, control characters or characters that are not ASCII'
  if (written.includes('\\')) return 'has a backslash'
  const split = form === 'url' ? splitUrl(written) : splitPlain(written, form)
  return typeof split === 'string' ? split : check(split)
}

interface Split {
  readonly scheme: string
  readonly user: string
  readonly host: string
  readonly port: string
  readonly path: string
}

function splitUrl(written: string): Split | string {
  const scp = /^([\w.-]+)@([\w.-]+):(?!\/)([^:]*)$/.exec(written)
  if (scp) return { scheme: 'ssh', user: scp[1]!, host: scp[2]!, port: '', path: scp[3]! }
  const url = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)(.*)$/.exec(written)
  if (!url) return 'is not of the form <scheme>://<host>/<path>'
  const [scheme, authority, path] = [url[1]!.toLowerCase(), url[2]!, url[3]!]
  // Many write the scp form behind ssh://; it is clear what they mean.
  const hybrid = scheme === 'ssh' ? /^([\w.-]+)@([\w.-]+):([A-Za-z_][\w.-]*)$/.exec(authority) : null
  if (hybrid) return { scheme, user: hybrid[1]!, host: hybrid[2]!, port: '', path: `${hybrid[3]}${path}` }
  const mark = authority.lastIndexOf('@')
  const user = mark < 0 ? '' : authority.slice(0, mark)
  if (mark >= 0 && (!scheme.endsWith('ssh') || !/^[\w.-]+$/.test(user))) return 'names a user or a password'
  const host = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]]*)(?::([0-9]*))?$/.exec(authority.slice(mark + 1))
  if (!host) return 'has a host or a port that is none'
  return { scheme, user, host: host[1]!, port: host[2] ?? '', path: path.replace(/^\//, '') }
}

function splitPlain(written: string, form: AddressForm): Split | string {
  if (written.includes('://')) return form === 'image' ? 'starts with a scheme, which no image has' : splitUrl(written)
  if (written.includes('@') && form === 'endpoint') return 'names a user or a password'
  const slash = written.indexOf('/')
  const first = slash < 0 ? written : written.slice(0, slash)
  const isHost = form === 'endpoint' || (slash >= 0 && (/[.:]/.test(first) || first === 'localhost'))
  const scheme = form === 'image' ? 'oci' : 'https'
  // What names no registry is Docker Hub's (github.com/google/go-containerregistry, pkg/name).
  if (!isHost) {
    const path = slash < 0 ? `library/${written}` : written
    return { scheme, user: '', host: 'docker.io', port: '', path }
  }
  const host = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]]*)(?::([0-9]*))?$/.exec(first)
  if (!host) return 'has a host or a port that is none'
  return { scheme, user: '', host: host[1]!, port: host[2] ?? '', path: slash < 0 ? '' : written.slice(slash + 1) }
}

function check({ scheme, host, port, path }: Split): SourceAddress | string {
  const known = SCHEMES.get(scheme)
  if (!known) return 'has a scheme that no source of Flux has'
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase()
  if (bare === '') return 'names no host'
  if (host.startsWith('[') ? !/:.*:/.test(bare) : !/^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/.test(bare))
    return 'has a host that is none'
  if (bare.includes('..') || bare.length > 253) return 'has a host that is none'
  if (port !== '' && Number(port) > 65_535) return 'has a port that is none'
  if (/[?#]/.test(path)) return 'has a query or a fragment'
  if (ENCODED.test(path)) return 'has an encoded dot, slash, backslash or other character that changes what it means'
  const parts = unescapedAddress(path.replace(/\/$/, '')).split('/')
  if (parts.some(part => part === '.' || part === '..')) return 'has a path with dot segments'
  if (parts.length > 1 && parts.includes('')) return 'has a path with an empty part'
  return addressOf(known.scheme, bare, port === known.port ? '' : port.replace(/^0+(?=\d)/, ''), parts, scheme)
}

/** Whether requests to this host and port reach github.com: its ssh name only by SSH, the others only by HTTP. */
function isAlias(host: string, port: string, written: string): boolean {
  if (!gitHubHost(host)) return false
  const isSsh = written.endsWith('ssh')
  return host === 'ssh.github.com' ? isSsh && (port === '443' || port === '') : !isSsh && port === ''
}

/** A letter that is escaped is the letter (RFC 3986, section 6.2.2.2). */
function unescapedAddress(part: string): string {
  return part.replace(/%([0-9a-f]{2})/gi, (written, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    return /[\w.~-]/.test(character) ? character : written.toUpperCase()
  })
}

function addressOf(
  scheme: SourceAddress['scheme'],
  host: string,
  port: string,
  parts: readonly string[],
  written: string,
): SourceAddress {
  const [name, at] = isAlias(host, port, written)
    ? ['github.com', '']
    : [DOCKER_HUB.has(host) ? 'docker.io' : host, port]
  const cased = (part: string) => (name === 'github.com' ? part.toLowerCase() : part)
  const plain = (parts.length === 1 && parts[0] === '' ? [] : parts).map((part, index) =>
    index === parts.length - 1 && scheme !== 'oci' ? cased(part).replace(/\.git$/, '') : cased(part),
  )
  const authority = `${name.includes(':') ? `[${name}]` : name}${at === '' ? '' : `:${at}`}`
  return { scheme, host: name, port: at, parts: plain, text: `${scheme}://${authority}/${plain.join('/')}` }
}

/**
 * Names under which GitHub serves the same repositories as under github.com: www and redirect lead there over HTTP, ssh
 * takes SSH on port 443 (https://docs.github.com/en/authentication/troubleshooting-ssh/using-ssh-over-the-https-port).
 */
const NAMES: ReadonlySet<string> = new Set(['github.com', 'www.github.com', 'redirect.github.com', 'ssh.github.com'])

/** `github.com` for each of its names, in lower case; undefined for another host. */
function gitHubHost(host: string): 'github.com' | undefined {
  return NAMES.has(host) ? 'github.com' : undefined
}
