import { addressText, parseAddress } from '../../kube/parse-address.ts'
import { CelError } from '../cel-error.ts'
import type { FunctionTable } from '../function-library.ts'
import { type CelValue, LibraryValue } from '../values.ts'

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
