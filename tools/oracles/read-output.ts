import { type Document, parseAllDocuments, visit } from 'yaml'

/** Nested values of a YAML or JSON text; integers are bigint, so that none is rounded. */
export type Plain = string | number | bigint | boolean | null | Plain[] | { readonly [key: string]: Plain }

/**
 * The documents that a real program printed. Read by the library and not by the front end under test: what both read
 * wrongly would look equal.
 */
export function readOutput(yaml: string): Plain[] {
  const documents = parseAllDocuments(yaml, { version: '1.2', schema: 'core', intAsBigInt: true })
  if (!Array.isArray(documents)) return []
  return documents.map(document => {
    if (document.errors[0]) throw document.errors[0]
    keepTooLarge(document)
    return document.toJS({ maxAliasCount: -1 }) as Plain
  })
}

/** A number beyond every float is text, as JSON has no place for it. */
function keepTooLarge(document: Document): void {
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value !== 'number' || Number.isFinite(node.value) || /inf|nan/i.test(node.source ?? '')) return
      node.value = node.source
    },
  })
}

// of the language, but not yet of lib.es2024
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown
const { parse } = JSON as unknown as { parse(text: string, reviver: Reviver): Plain }

/** JSON in which integers are bigint. */
export function readJsonExactly(text: string): Plain {
  return parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value,
  )
}

/**
 * One text for all that is the same to a cluster: keys sorted, a number without a fraction as an integer (as a float beyond 64 bits), and without
 * the empty timestamp that Flux writes.
 */
export function canonicalPlain(value: Plain): string {
  if (Array.isArray(value)) return `[${value.map(canonicalPlain).join(',')}]`
  if (value !== null && typeof value === 'object') {
    const keys = Object.keys(value).sort()
    const fields = keys.filter(key => key !== 'creationTimestamp' || value[key] !== null)
    return `{${fields.map(key => `${JSON.stringify(key)}:${canonicalPlain(value[key]!)}`).join(',')}}`
  }
  if (typeof value === 'bigint') return String(is64Bits(value) ? value : BigInt(Number(value)))
  if (typeof value === 'number' && Number.isInteger(value)) return String(BigInt(value))
  return JSON.stringify(value)
}

const is64Bits = (value: bigint): boolean => value >= -(2n ** 63n) && value < 2n ** 64n
