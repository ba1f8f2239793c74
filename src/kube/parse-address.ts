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

/** The one canonical text of an address (RFC 5952). */
export function addressText(bits: 32 | 128, value: bigint): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map(shift => String((value >> shift) & 0xffn)).join('.')
  const parts = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16))
  let [start, length] = [0, 0]
  for (let from = 0; from < 8; from++) {
    let to = from
    while (to < 8 && parts[to] === '0') to++
    if (to - from > length) [start, length] = [from, to - from]
  }
  if (length < 2) return parts.join(':')
  return `${parts.slice(0, start).join(':')}::${parts.slice(start + length).join(':')}`
}
