import type { Json } from '../kube/node.ts'
import type { ObjectId } from '../kube/object.ts'

/** The value at `path` of plain JSON; undefined where a step is absent, inherited or not a map. */
export function jsonAt(json: Json | undefined, ...path: readonly string[]): Json | undefined {
  let here = json
  for (const key of path) {
    if (here === null || typeof here !== 'object' || Array.isArray(here) || !Object.hasOwn(here, key)) return undefined
    here = here[key]
  }
  return here
}

/** The string at `path`; '' where there is none. */
export function stringAt(json: Json | undefined, ...path: readonly string[]): string {
  const found = jsonAt(json, ...path)
  return typeof found === 'string' ? found : ''
}

/** The items of the list at `path`; none without a list. */
export function itemsAt(json: Json | undefined, ...path: readonly string[]): readonly Json[] {
  const found = jsonAt(json, ...path)
  return Array.isArray(found) ? found : []
}

/** The map at `path`; empty where there is none. */
export function mapAt(json: Json | undefined, ...path: readonly string[]): Readonly<Record<string, Json>> {
  const found = jsonAt(json, ...path)
  return found !== null && typeof found === 'object' && !Array.isArray(found) ? found : {}
}

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

/** The steps of a JSON pointer (RFC 6901). */
export function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

const INDEX = /^(?:0|[1-9][0-9]*)$/

/** The value there; undefined where there is none. */
export function pointed(json: Json | undefined, steps: readonly string[]): Json | undefined {
  let here = json
  for (const step of steps) {
    if (Array.isArray(here)) here = INDEX.test(step) ? here[Number(step)] : undefined
    else if (here !== null && typeof here === 'object' && Object.hasOwn(here, step)) here = here[step]
    else return undefined
  }
  return here
}

/**
 * The same with another value there, or without one. Where the way there is missing nothing changes: a value is put where
 * the object has a field already, or where only the last step is missing.
 */
export function withPointed(json: Json, steps: readonly string[], value: Json | undefined): Json {
  const [step, ...rest] = steps
  if (step === undefined) return value ?? json
  if (Array.isArray(json)) {
    const index = INDEX.test(step) ? Number(step) : json.length
    const item = json[index]
    if (item === undefined) return json
    if (rest.length === 0 && value === undefined) return json.toSpliced(index, 1)
    return json.with(index, withPointed(item, rest, value))
  }
  if (json === null || typeof json !== 'object') return json
  const has = Object.hasOwn(json, step)
  if (rest.length > 0) return has ? { ...json, [step]: withPointed(json[step]!, rest, value) } : json
  if (value !== undefined) return { ...json, [step]: value }
  if (!has) return json
  const { [step]: _gone, ...others } = json
  return others
}

/** What names an object of plain JSON; a part that is not text is ''. */
export function idOf(object: Json): ObjectId {
  return {
    apiVersion: stringAt(object, 'apiVersion'),
    kind: stringAt(object, 'kind'),
    namespace: stringAt(object, 'metadata', 'namespace'),
    name: stringAt(object, 'metadata', 'name'),
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A value of `data` of a Secret as text; null where its bytes are none. */
export function parseSecretValue(value: Json): string | null {
  try {
    return UTF8.decode(Buffer.from(String(value), 'base64'))
  } catch {
    // the only way in which a decoder reports that bytes are not UTF-8
    return null
  }
}
