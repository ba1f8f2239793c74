import { refuseLong } from '../refuse-long.ts'

/** An address as Go's net/url reads it; `path` is escaped. */
export interface GoUrl {
  readonly scheme: string
  readonly user: string
  readonly host: string
  readonly path: string
  readonly query: string
  readonly fragment: string
}

/** ASCII controls. */
const CONTROL = /\p{Cc}/u
const BAD_ESCAPE = /%(?![0-9a-fA-F]{2})/
/** What Go leaves in a path as it is. */
const PLAIN_IN_PATH = /[^A-Za-z0-9\-_.~$&+,/:;=@!'()*[\]%]/gu
const HOST = /^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:<>"]|%(?:[89a-fA-F][0-9a-fA-F]|25)|[^\p{ASCII}])*$/u
const MAX_TEXT = 20_000

/** Parses an absolute address or path (url.ParseRequestURI of Go, as Kubernetes uses it); undefined for anything else. Throws CelBudgetError for a text that is too long. */
export function parseUrl(text: string): GoUrl | undefined {
  refuseLong(text, MAX_TEXT)
  if (text === '' || CONTROL.test(text)) return undefined
  if (text === '*') return { scheme: '', user: '', host: '', path: '*', query: '', fragment: '' }
  const [, scheme = '', rest = text] = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s.exec(text) ?? []
  if (scheme === '' && text.startsWith(':')) return undefined
  const mark = rest.indexOf('?')
  const [before, query] = mark < 0 ? [rest, ''] : [rest.slice(0, mark), rest.slice(mark + 1)]
  if (!before.startsWith('/')) {
    if (scheme === '') return undefined
    return { scheme: scheme.toLowerCase(), user: '', host: '', path: '', query, fragment: '' }
  }
  const hasHost = before.startsWith('//') && (scheme !== '' || !before.startsWith('///'))
  const slash = hasHost ? before.indexOf('/', 2) : 0
  const authority = hasHost ? before.slice(2, slash < 0 ? undefined : slash) : ''
  const path = slash < 0 ? '' : before.slice(slash)
  const at = authority.lastIndexOf('@')
  const [user, host] = [authority.slice(0, Math.max(at, 0)), authority.slice(at + 1)]
  if (BAD_ESCAPE.test(path) || BAD_ESCAPE.test(user) || !isHost(host)) return undefined
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) return undefined
  return {
    scheme: scheme.toLowerCase(),
    user,
    host,
    path: path.replace(PLAIN_IN_PATH, percentEncoded),
    query,
    fragment: '',
  }
}

const percentEncoded = (char: string) =>
  [...Buffer.from(char)].map(byte => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')

function isHost(host: string): boolean {
  const bracketed = /^\[[^\]]*\](.*)$/s.exec(host)
  if (bracketed) return /^(?::\d*)?$/.test(bracketed[1]!)
  if (host.startsWith('[') || !HOST.test(host)) return false
  const colon = host.indexOf(':')
  return colon < 0 || /^:\d*$/.test(host.slice(colon))
}
