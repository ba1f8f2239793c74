import { type AddressForm, readAddress, type SourceAddress } from '../../kube/address/source-address.ts'
import { matchesWildcard } from './jmespath/wildcard.ts'

/**
 * Whether a wildcard pattern of a policy, one of its alternatives, stands for an address. The pattern is compared part by
 * part with the address in its one spelling, so other forms of the same repository match; and a `*` that follows a name
 * ends with it: `https://github.com/acme*` is what lies below `acme`, never `acme-evil`. Undefined: the pattern is no
 * address with wildcards in it.
 */
export function matchesAddress(pattern: string, address: SourceAddress, form: AddressForm): boolean | undefined {
  const wanted = readPattern(pattern.trim(), form)
  if (!wanted) return undefined
  if (wanted.scheme !== address.scheme || wanted.port !== address.port) return false
  const matchesHost =
    wanted.host === '*' || form === 'endpoint' || wanted.parts.length > 0 || !wanted.host.endsWith('*')
      ? matchesWildcard(wanted.host, address.host)
      : matchesName(wanted.host, address.host)
  return matchesHost && matchesParts(wanted.parts, address.parts)
}

interface Pattern {
  readonly scheme: string
  readonly host: string
  readonly port: string
  readonly parts: readonly string[]
}

/** Characters that an address may have, standing for `*` and `?` while it is read. */
const [ANY, ONE] = ['wildcard-any', 'wildcard-one']

function readPattern(pattern: string, form: AddressForm): Pattern | undefined {
  if (pattern.length > 500 || /wildcard-/.test(pattern)) return undefined
  // A wildcard for the scheme says nothing that may be believed.
  const read = readAddress(pattern.replaceAll('*', ANY).replaceAll('?', ONE), form)
  if (typeof read === 'string') return undefined
  const back = (text: string) => text.replaceAll(ANY, '*').replaceAll(ONE, '?')
  return { scheme: read.scheme, host: back(read.host), port: read.port, parts: read.parts.map(back) }
}

function matchesParts(patterns: readonly string[], parts: readonly string[]): boolean {
  const last = patterns.at(-1)
  if (last === undefined || !last.endsWith('*')) {
    return patterns.length === parts.length && patterns.every((one, index) => matchesPart(one, parts[index]!))
  }
  const before = patterns.slice(0, -1)
  if (!before.every((one, index) => matchesPart(one, parts[index] ?? ''))) return false
  const rest = parts.slice(before.length)
  if (last === '*') return true
  return rest[0] !== undefined && matchesName(last, rest[0])
}

const matchesPart = (pattern: string, part: string) =>
  pattern.endsWith('*') ? matchesName(pattern, part) : matchesWildcard(pattern, part)

/** A `*` at the end of a name belongs to the same name only where something separates it: `team-*`, `?*`. */
function matchesName(pattern: string, name: string): boolean {
  const open = /[A-Za-z0-9]\*+$/.test(pattern) ? pattern.replace(/\*+$/, '') : pattern
  return matchesWildcard(open, name)
}
