import type { Json } from '../kube/node.ts'

// of the language, but not yet of lib.es2024
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown
const { parse, rawJSON } = JSON as unknown as {
  parse(text: string, reviver: Reviver): Json
  rawJSON(text: string): Json
}

/** No integer with fewer digits is beyond 2^53. */
const LONG = /\d{16}/

/**
 * Plain JSON in which an integer beyond 2^53 stays as it was written, so that JSON.stringify gives back exactly the
 * object that was evaluated. Throws SyntaxError for text that is not JSON.
 */
export function parseExact(text: string): Json {
  // a reviver is called for each value: ten times as slow
  if (!LONG.test(text)) return JSON.parse(text)
  return parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && /^-?\d+$/.test(source) && !Number.isSafeInteger(value)
      ? rawJSON(source)
      : value,
  )
}
