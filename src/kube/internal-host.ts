/** What a host is, where requests to it stay inside of the cluster, its machine or its cloud; undefined: somewhere else. */
type InternalHost =
  | { readonly what: string; readonly service?: undefined }
  | { readonly what: string; readonly service: { readonly name: string; readonly namespace: string } }

const METADATA = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
])
/** fd00:ec2::254 of AWS, fd20:ce::254 of Google Cloud. */
const METADATA_IPV6 = new Set([`${0xfd00}:${0xec2}:0:0:0:0:0:${0x254}`, `${0xfd20}:${0xce}:0:0:0:0:0:${0x254}`])
/** DNS zones that answer with the address that is written into the name, or with the machine itself. */
const WILDCARD_DNS = /\.(?:nip|sslip|xip)\.io$/
const LOOPBACK_DNS = /(?:^|\.)(?:localtest\.me|lvh\.me|vcap\.me|lacolhost\.com)$/

/** IPv4 ranges that are not the internet's: first address, bits, what they are (IANA special-purpose registry). */
const RANGES: readonly (readonly [number, number, string])[] = [
  [ip(0, 0, 0, 0), 8, 'this machine'],
  [ip(10, 0, 0, 0), 8, 'a private address'],
  [ip(100, 100, 100, 200), 32, "the cloud's metadata service"],
  [ip(100, 64, 0, 0), 10, 'a private address'],
  [ip(127, 0, 0, 0), 8, 'a loopback address'],
  [ip(168, 63, 129, 16), 32, "the cloud's metadata service"],
  [ip(169, 254, 0, 0), 16, 'a link-local address (cloud metadata)'],
  [ip(172, 16, 0, 0), 12, 'a private address'],
  [ip(192, 0, 0, 192), 32, "the cloud's metadata service"],
  [ip(192, 0, 0, 0), 24, 'a private address'],
  [ip(192, 168, 0, 0), 16, 'a private address'],
  [ip(198, 18, 0, 0), 15, 'a private address'],
  [ip(224, 0, 0, 0), 3, 'a multicast or reserved address'],
]

/**
 * What an internal host is. IP addresses are read in every form that a resolver takes (decimal, octal, hex, short ones,
 * IPv4 within IPv6), names of Kubernetes services with or without the cluster's domain.
 */
export function internalHost(host: string): InternalHost | undefined {
  const name = host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/%.*$/, '')
    .replace(/\.$/, '')
  if (name.includes(':')) return internalIpv6(name)
  const number = ipv4(name)
  if (number !== undefined) return ofRange(number)
  if (METADATA.has(name)) return { what: "the cloud's metadata service" }
  if (name === 'localhost' || name.endsWith('.localhost') || LOOPBACK_DNS.test(name))
    return { what: 'a loopback address' }
  if (WILDCARD_DNS.test(name)) return embedded(name)
  return serviceHost(name)
}

function serviceHost(name: string): InternalHost | undefined {
  const labels = name.split('.')
  if (labels.length === 1 && name !== '') return { what: 'a name inside of the cluster' }
  const isLocal = name.endsWith('.svc.cluster.local')
  const svc = labels[2] === 'svc' ? 2 : isLocal ? labels.length - 3 : labels.length - 1
  if (svc >= 2 && labels[svc] === 'svc') {
    const [service, namespace] = labels.slice(svc - 2, svc) as [string, string]
    return { what: 'a service of the cluster', service: { name: service, namespace } }
  }
  if (name.endsWith('.cluster.local') || name === 'kubernetes.default') return { what: 'a name inside of the cluster' }
  return undefined
}

function ip(a: number, b: number, c: number, d: number): number {
  return a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d
}

/** An IPv4 address as inet_aton reads it: up to four parts, each decimal, octal or hex, the last one takes the rest. */
function ipv4(text: string): number | undefined {
  const parts = text.split('.')
  if (parts.length > 4) return undefined
  const numbers = parts.map(part => {
    if (/^0x[0-9a-f]{1,12}$/.test(part)) return Number.parseInt(part, 16)
    if (/^0[0-7]{0,14}$/.test(part)) return Number.parseInt(part, 8)
    return /^[1-9][0-9]{0,11}$/.test(part) ? Number(part) : undefined
  })
  let address = 0
  for (const [index, number] of numbers.entries()) {
    const last = index === numbers.length - 1
    if (number === undefined || number >= (last ? 2 ** (8 * (4 - index)) : 256)) return undefined
    address += last ? number : number * 2 ** (8 * (3 - index))
  }
  return address
}

function ofRange(address: number): InternalHost | undefined {
  const range = RANGES.find(([first, bits]) => Math.floor(address / 2 ** (32 - bits)) === first / 2 ** (32 - bits))
  return range && { what: range[2] }
}

function embedded(name: string): InternalHost | undefined {
  const found = /(?:^|[.-])(\d{1,3})[.-](\d{1,3})[.-](\d{1,3})[.-](\d{1,3})(?=[.-])/.exec(name)
  return found ? ofRange(ipv4(found.slice(1, 5).map(Number).join('.')) ?? 0) : undefined
}

function internalIpv6(text: string): InternalHost | undefined {
  const groups = expand(text)
  if (!groups) return { what: 'an address that is none' }
  const tail = groups[6]! * 2 ** 16 + groups[7]!
  const isZero = (from: number, to: number) => groups.slice(from, to).every(group => group === 0)
  if (isZero(0, 7) && groups[7]! <= 1) return { what: 'a loopback address' }
  const mapped = isZero(0, 5) && (groups[5] === 0xffff || groups[5] === 0)
  const translated = groups[0] === 0x64 && groups[1] === 0xff9b
  if (mapped || translated || (isZero(0, 4) && groups[4] === 0xffff)) return ofRange(tail)
  if (groups[0] === 0x2002) return ofRange(groups[1]! * 2 ** 16 + groups[2]!)
  if ((groups[0]! & 0xffc0) === 0xfe80) return { what: 'a link-local address' }
  if (METADATA_IPV6.has(groups.join(':'))) return { what: "the cloud's metadata service" }
  if ((groups[0]! & 0xfe00) === 0xfc00) return { what: 'a private address' }
  return (groups[0]! & 0xff00) === 0xff00 ? { what: 'a multicast address' } : undefined
}

/** The eight groups of an IPv6 address; undefined where it is none. */
function expand(text: string): number[] | undefined {
  const last = text.slice(text.lastIndexOf(':') + 1)
  const number = last.includes('.') ? ipv4(last) : undefined
  if (last.includes('.') && number === undefined) return undefined
  const tail = number === undefined ? last : `${(number >>> 16).toString(16)}:${(number & 0xffff).toString(16)}`
  const halves = `${text.slice(0, text.length - last.length)}${tail}`.split('::')
  if (halves.length > 2) return undefined
  const [head, rest] = halves.map(half => (half === '' ? [] : half.split(':'))) as [string[], string[] | undefined]
  const missing = 8 - head.length - (rest?.length ?? 0)
  if (rest ? missing < 0 : missing !== 0) return undefined
  const groups = [...head, ...Array.from({ length: rest ? missing : 0 }, () => '0'), ...(rest ?? [])]
  return groups.every(group => /^[0-9a-f]{1,4}$/.test(group))
    ? groups.map(group => Number.parseInt(group, 16))
    : undefined
}

const OCTET = /^(0|[1-9]\d{0,2})$/
const GROUP = /^[0-9a-fA-F]{1,4}$/
const MAX_TEXT = 60

/** An address of IPv4 or IPv6 without a zone that is not IPv4 in IPv6 (netip.ParseAddr, as Kubernetes limits it). */
export function parseAddress(text: string): { readonly bits: 32 | 128; readonly value: bigint } | undefined {
  if (text.length > MAX_TEXT) return undefined
  if (!text.includes(':')) {
    const value = octets(text)
    return value === undefined ? undefined : { bits: 32, value }
  }
  const value = groups(text)
  return value === undefined || value >> 32n === 0xffffn ? undefined : { bits: 128, value }
}

function octets(text: string): bigint | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || parts.some(part => !OCTET.test(part) || Number(part) > 255)) return undefined
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n)
}

function groups(text: string): bigint | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const lists = halves.map(half => (half === '' ? [] : half.split(':')))
  const last = lists.at(-1)!
  if (last.at(-1)?.includes('.')) {
    const value = octets(last.pop()!)
    if (value === undefined) return undefined
    last.push((value >> 16n).toString(16), (value & 0xffffn).toString(16))
  }
  const count = lists.reduce((sum, list) => sum + list.length, 0)
  if (halves.length === 1 ? count !== 8 : count > 7) return undefined
  if (lists.some(list => list.some(group => !GROUP.test(group)))) return undefined
  const zeros = Array.from({ length: 8 - count }, () => '0')
  const all = halves.length === 1 ? lists[0]! : [...lists[0]!, ...zeros, ...lists[1]!]
  return all.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n)
}
