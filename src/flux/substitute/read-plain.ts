/** What a plain scalar is for go-yaml v2. */
export type Plain =
  | { readonly type: 'null' }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'number'; readonly value: number; readonly float: boolean }
  /** What looks like a time stays text, but is quoted where it is written. */
  | { readonly type: 'text' | 'time' }
  | { readonly type: 'infinite' | 'merge' }

const TEXT: Plain = { type: 'text' }
const INFINITE: Plain = { type: 'infinite' }

const KNOWN: ReadonlyMap<string, Plain> = new Map<string, Plain>([
  ...words('y Y yes Yes YES true True TRUE on On ON', { type: 'boolean', value: true }),
  ...words('n N no No NO false False FALSE off Off OFF', { type: 'boolean', value: false }),
  ...words('~ null Null NULL', { type: 'null' }),
  ...words('.nan .NaN .NAN .inf .Inf .INF +.inf +.Inf +.INF -.inf -.Inf -.INF', INFINITE),
  ['', { type: 'null' }],
])

function words(text: string, plain: Plain): [string, Plain][] {
  return text.split(' ').map(word => [word, plain])
}

const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/

/**
 * What sigs.k8s.io/yaml reads for a plain scalar (resolve.go of go.yaml.in/yaml/v2, YAML 1.1): `yes` and `on` are
 * booleans, `0o17` and `017` are 15, a date stays text. Numbers have the precision of a float64, which Flux passes them
 * through.
 */
export function readPlain(text: string): Plain {
  const known = KNOWN.get(text)
  if (known) return known
  const first = text.charAt(0)
  if (first === '.') return /^\.[0-9]+(?:[eE][-+]?[0-9]+)?$/.test(text) ? float(text) : TEXT
  if (first === '' || !'+-0123456789'.includes(first)) return TEXT
  if (isTime(text)) return { type: 'time' }
  const digits = text.replaceAll('_', '')
  return integer(digits) ?? (FLOAT.test(digits) ? float(digits) : (signedBinary(digits) ?? TEXT))
}

function float(digits: string): Plain {
  const value = Number(digits)
  // a number that is too large is not a number for Go
  return Number.isFinite(value) ? { type: 'number', value: value === 0 ? 0 : value, float: true } : TEXT
}

const MAX = 2n ** 63n

/** Go's strconv.ParseInt with base 0, then ParseUint. */
function integer(digits: string): Plain | undefined {
  const match = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/.exec(digits)
  if (!match) return undefined
  const [, sign, hex, binary, octal, decimal] = match
  const size = BigInt(hex ? `0x${hex}` : binary ? `0b${binary}` : octal ? `0o${octal}` : decimal!)
  const limit = sign === '-' ? MAX : sign === '+' ? MAX - 1n : 2n * MAX - 1n
  return size > limit ? undefined : number(sign === '-' ? -size : size)
}

/** `0b-1` and `-0b+1` are numbers for go-yaml by an accident of its own. */
function signedBinary(digits: string): Plain | undefined {
  const match = /^0b([-+])([01]+)$/.exec(digits)
  if (!match) return undefined
  const size = BigInt(`0b${match[2]}`)
  if (size > (match[1] === '-' ? MAX : MAX - 1n)) return undefined
  return number(match[1] === '-' ? -size : size)
}

const number = (value: bigint): Plain => ({ type: 'number', value: Number(value), float: false })

/** The forms of parseTimestamp; whether there is such a day only decides about quotes, so it is not asked. */
const isTime = (text: string): boolean =>
  /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})| [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?)?$/.test(
    text,
  )
