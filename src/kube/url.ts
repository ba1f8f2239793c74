import { gitHubHost } from './address/github-host.ts'

/**
 * One spelling for the address of a repository, so that whatever git, Flux or GitHub would take to the same one compares
 * equal: `https://<host>/<path>`; host in lower case without a dot at its end, no user, no standard port, no query, no
 * escapes, empty parts or dot segments in the path, no `.git`, no trailing slash. For github.com and its other names the
 * path is in lower case too (GitHub compares so). Where readers disagree about a spelling it counts as the repository that
 * any of them would find; the rule source-url-malformed refuses it. Text that is no such address is returned as it is.
 */
export function normaliseUrl(url: string): string {
  const before = known.get(url)
  if (before !== undefined) return before
  const normalised = normalise(url)
  if (known.size >= MAX_KNOWN) known.clear()
  if (url.length <= 300) known.set(url, normalised)
  return normalised
}

/** The same few addresses are asked for again and again. */
const known = new Map<string, string>()
const MAX_KNOWN = 20_000

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
  if (gitHub) return `https://${gitHub}${path.toLowerCase().replace(/(?:\/|\.git)+$/, '')}`
  const port = parsed.port && parsed.port !== standardPort ? `:${parsed.port}` : ''
  return `https://${host}${port}${path.replace(/\/?\.git$/, '')}`
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
