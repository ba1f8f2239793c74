import { CelError, refuseLong } from '../expression.ts'
import { CelMap, type CelValue, type FunctionTable, LibraryValue } from '../values.ts'

class Url extends LibraryValue {
  readonly typeName = 'kubernetes.URL'
  readonly text: string
  readonly parts: GoUrl
  constructor(text: string, parts: GoUrl) {
    super()
    this.text = text
    this.parts = parts
  }
  equals(other: LibraryValue): boolean {
    return other instanceof Url && JSON.stringify(other.parts) === JSON.stringify(this.parts)
  }
}

/** Addresses of the web (k8s.io/apiserver pkg/cel/library/urls.go). */
export const URLS: FunctionTable = {
  functions: {
    url: ([text]) => {
      if (typeof text !== 'string') return undefined
      const parts = parseUrl(text)
      if (!parts) throw new CelError('URL parse error')
      return new Url(text, parts)
    },
    isURL: ([text]) => (typeof text === 'string' ? parseUrl(text) !== undefined : undefined),
  },
  methods: {
    getScheme: ofUrl(({ scheme }) => scheme),
    getHost: ofUrl(({ host }) => host),
    getHostname: ofUrl(({ host }) => hostname(host)),
    getPort: ofUrl(({ host }) => /:(\d*)$/.exec(host.replace(/^\[.*\]/, ''))?.[1] ?? ''),
    getEscapedPath: ofUrl(({ path }) => path),
    getQuery: ofUrl(({ query }) => queryOf(query)),
  },
}

function ofUrl(answer: (parts: GoUrl) => CelValue) {
  return ([one]: readonly CelValue[]) => (one instanceof Url ? answer(one.parts) : undefined)
}

function hostname(host: string): string {
  const bracketed = /^\[(.*)\]/.exec(host)
  return bracketed ? bracketed[1]! : host.replace(/:\d*$/, '')
}

/** Values by key, decoded; what cannot be decoded is left out, as Go does. */
function queryOf(query: string): CelValue {
  const all = new Map<string, [CelValue, CelValue[]]>()
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue
    const at = pair.indexOf('=')
    const [key, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
    const decoded = [key, value].map(decode)
    if (decoded.includes(undefined)) continue
    const [name, text] = decoded as [string, string]
    const known = all.get(`s${name}`)
    if (known) known[1].push(text)
    else all.set(`s${name}`, [name, [text]])
  }
  return new CelMap(all)
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/** An address as Go's net/url reads it; `path` is escaped. */
interface GoUrl {
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
