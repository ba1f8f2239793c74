import { addressText, parseAddress } from '../../kube/internal-host.ts'
import { readTimestamp } from '../arithmetic.ts'
import { CelError, refuseLong } from '../expression.ts'
import { CelMap, type CelValue, type FunctionTable, LibraryValue, Optional } from '../values.ts'

/** An IP address: `bits` is 32 or 128. */
class Ip extends LibraryValue {
  readonly typeName = 'net.IP'
  readonly bits: 32 | 128
  readonly value: bigint
  constructor(bits: 32 | 128, value: bigint) {
    super()
    this.bits = bits
    this.value = value
  }
  equals(other: LibraryValue): boolean {
    return other instanceof Ip && other.bits === this.bits && other.value === this.value
  }
}

class Cidr extends LibraryValue {
  readonly typeName = 'net.CIDR'
  readonly address: Ip
  readonly length: number
  constructor(address: Ip, length: number) {
    super()
    this.address = address
    this.length = length
  }
  equals(other: LibraryValue): boolean {
    return other instanceof Cidr && other.length === this.length && other.address.equals(this.address)
  }
}

/** Addresses and networks (k8s.io/apiserver pkg/cel/library/ip.go, cidr.go). */
export const ADDRESSES: FunctionTable = {
  functions: {
    ip: ([text]) => (typeof text === 'string' ? must(ipOf(text), text) : undefined),
    isIP: ([text]) => (typeof text === 'string' ? ipOf(text) !== undefined : undefined),
    'ip.isCanonical': ([text]) =>
      typeof text === 'string'
        ? addressText(must(ipOf(text), text).bits, must(ipOf(text), text).value) === text
        : undefined,
    cidr: ([text]) => (typeof text === 'string' ? must(cidrOf(text), text) : undefined),
    isCIDR: ([text]) => (typeof text === 'string' ? cidrOf(text) !== undefined : undefined),
    string: ([one]) => textOf(one),
  },
  methods: {
    family: ofIp(({ bits }) => (bits === 32 ? 4n : 6n)),
    isUnspecified: ofIp(({ value }) => value === 0n),
    isLoopback: ofIp(({ bits, value }) => (bits === 32 ? value >> 24n === 127n : value === 1n)),
    isLinkLocalMulticast: ofIp(isLinkLocalMulticast),
    isLinkLocalUnicast: ofIp(isLinkLocalUnicast),
    isGlobalUnicast: ofIp(isGlobalUnicast),
    containsIP: ([net, one]) => {
      const address = typeof one === 'string' ? must(ipOf(one), one) : one
      return net instanceof Cidr && address instanceof Ip ? contains(net, address) : undefined
    },
    containsCIDR: ([net, one]) => {
      const other = typeof one === 'string' ? must(cidrOf(one), one) : one
      if (!(net instanceof Cidr && other instanceof Cidr)) return undefined
      return other.length >= net.length && contains(net, masked(other).address)
    },
    ip: ([net]) => (net instanceof Cidr ? net.address : undefined),
    masked: ([net]) => (net instanceof Cidr ? masked(net) : undefined),
    prefixLength: ([net]) => (net instanceof Cidr ? BigInt(net.length) : undefined),
  },
}

function ofIp(answer: (ip: Ip) => CelValue) {
  return ([one]: readonly CelValue[]) => (one instanceof Ip ? answer(one) : undefined)
}

function must<T>(made: T | undefined, text: string): T {
  if (made === undefined) throw new CelError(`${JSON.stringify(text.slice(0, 100))} is not a network address`)
  return made
}

function ipOf(text: string): Ip | undefined {
  const found = parseAddress(text)
  return found && new Ip(found.bits, found.value)
}

function cidrOf(text: string): Cidr | undefined {
  const [, address = '', length = ''] = /^([^/]{1,60})\/(0|[1-9]\d{0,2})$/.exec(text) ?? []
  const ip = ipOf(address)
  return ip && Number(length) <= ip.bits ? new Cidr(ip, Number(length)) : undefined
}

function contains({ address, length }: Cidr, ip: Ip): boolean {
  const shift = BigInt(address.bits - length)
  return ip.bits === address.bits && ip.value >> shift === address.value >> shift
}

function masked({ address, length }: Cidr): Cidr {
  const shift = BigInt(address.bits - length)
  return new Cidr(new Ip(address.bits, (address.value >> shift) << shift), length)
}

function isLinkLocalMulticast({ bits, value }: Ip): boolean {
  return bits === 32 ? value >> 8n === 0xe00000n : value >> 112n === 0xff02n || ((value >> 112n) & 0xff0fn) === 0xff02n
}

function isLinkLocalUnicast({ bits, value }: Ip): boolean {
  return bits === 32 ? value >> 16n === 0xa9fen : value >> 118n === 0x3fan
}

function isGlobalUnicast(ip: Ip): boolean {
  const { bits, value } = ip
  const isMulticast = bits === 32 ? value >> 28n === 0xen : value >> 120n === 0xffn
  const isLoopback = bits === 32 ? value >> 24n === 127n : value === 1n
  const isBroadcast = bits === 32 && value === 0xffffffffn
  return value !== 0n && !isMulticast && !isLoopback && !isBroadcast && !isLinkLocalUnicast(ip)
}

function textOf(one: CelValue | undefined): string | undefined {
  if (one instanceof Ip) return addressText(one.bits, one.value)
  return one instanceof Cidr ? `${addressText(one.address.bits, one.address.value)}/${one.length}` : undefined
}

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

/** A named format; `problems` are the API server's words about a text, none where it fits. */
class Format extends LibraryValue {
  readonly typeName = 'kubernetes.NamedFormat'
  readonly name: string
  readonly problems: (text: string) => readonly string[]
  constructor(name: string, problems: (text: string) => readonly string[]) {
    super()
    this.name = name
    this.problems = problems
  }
  equals(other: LibraryValue): boolean {
    return other instanceof Format && other.name === this.name
  }
}

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/
const NAME_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const DATE = /^\d{4}-\d{2}-\d{2}$/

const matching = (pattern: RegExp, most: number, words: string) => (text: string) => [
  ...(text.length > most ? [`must be no more than ${most} characters`] : []),
  ...(pattern.test(text.slice(0, 1_000)) ? [] : [words]),
]
const LABEL_WORDS =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const SUBDOMAIN_WORDS =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const LABEL_1035_WORDS =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
const NAME_WORDS =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const VALUE_WORDS =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

/** A prefix may end with a dash. */
const prefix = (problems: (text: string) => readonly string[]) => (text: string) =>
  problems(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -1)}a` : text)

const FORMATS: Readonly<Record<string, (text: string) => readonly string[]>> = {
  dns1123Label: matching(LABEL, 63, LABEL_WORDS),
  dns1123Subdomain: matching(SUBDOMAIN, 253, SUBDOMAIN_WORDS),
  dns1035Label: matching(LABEL_1035, 63, LABEL_1035_WORDS),
  dns1123LabelPrefix: prefix(matching(LABEL, 63, LABEL_WORDS)),
  dns1123SubdomainPrefix: prefix(matching(SUBDOMAIN, 253, SUBDOMAIN_WORDS)),
  dns1035LabelPrefix: prefix(matching(LABEL_1035, 63, LABEL_1035_WORDS)),
  qualifiedName,
  labelValue: matching(VALUE, 63, VALUE_WORDS),
  uri: text => (parseUrl(text) ? [] : ['does not match the URI format']),
  uuid: text => (UUID.test(text) ? [] : ['does not match the UUID format']),
  byte: text => (text !== '' && BASE64.test(text) ? [] : ['invalid base64']),
  date: text => (DATE.test(text) && readTimestamp(`${text}T00:00:00Z`) !== undefined ? [] : ['invalid date']),
  datetime: text => (readTimestamp(text.toUpperCase()) !== undefined ? [] : ['invalid datetime']),
}

/** Named formats (k8s.io/apiserver pkg/cel/library/format.go). */
export const FORMAT_FUNCTIONS: FunctionTable = {
  functions: {
    ...Object.fromEntries(
      Object.entries(FORMATS).map(([name, problems]) => [`format.${name}`, () => new Format(name, problems)]),
    ),
    'format.named': ([name]) => {
      if (typeof name !== 'string') return undefined
      return new Optional(Object.hasOwn(FORMATS, name) ? new Format(name, FORMATS[name]!) : undefined)
    },
  },
  methods: {
    validate: ([format, text]) => {
      if (!(format instanceof Format) || typeof text !== 'string') return undefined
      const problems = format.problems(text)
      return new Optional(problems.length > 0 ? problems : undefined)
    },
  },
}

function qualifiedName(text: string): string[] {
  const parts = text.split('/')
  const name = parts.at(-1)!
  const problems: string[] = []
  if (parts.length > 2)
    return [`a qualified name ${NAME_WORDS} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]
  if (parts.length === 2) {
    if (parts[0] === '') problems.push('prefix part must be non-empty')
    else problems.push(...FORMATS.dns1123Subdomain!(parts[0]!).map(one => `prefix part ${one}`))
  }
  if (name === '') problems.push('name part must be non-empty')
  else if (name.length > 63) problems.push('name part must be no more than 63 characters')
  if (!NAME_PART.test(name.slice(0, 1_000))) problems.push(`name part ${NAME_WORDS}`)
  return problems
}
