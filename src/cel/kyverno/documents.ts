import { createHash } from 'node:crypto'
import { BailiwickError } from '../../errors.ts'
import { type Json, toJson } from '../../kube/node.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import { CelBudgetError, CelError, CelUnknownError } from '../cel-error.ts'
import type { CountSteps, FunctionTable } from '../function-library.ts'
import { CelMap, type CelValue, isList, NotKnown, Unsigned } from '../values.ts'

const MAX_TEXT = 1_000_000
const MAX_DEPTH = 100

/** Hashes, JSON and YAML (kyverno/sdk extensions/cel/libs/{hash,json,yaml}). */
export const DOCUMENTS: FunctionTable = {
  functions: {
    ...Object.fromEntries(
      ['md5', 'sha1', 'sha256'].flatMap(name => [
        [name, hashWith(name)],
        [`hash.${name}`, hashWith(name)],
      ]),
    ),
    'json.unmarshal': ([text], spend) => (typeof text === 'string' ? parsed(text, spend) : undefined),
    'json.marshal': ([value], spend) => (value === undefined ? undefined : jsonText(value, spend, 0)),
    'yaml.parse': ([text], spend) => (typeof text === 'string' ? yamlValue(text, spend) : undefined),
  },
}

function hashWith(algorithm: string) {
  return ([text]: readonly CelValue[], spend: CountSteps) => {
    if (typeof text !== 'string') return undefined
    spend(text.length / 10)
    return createHash(algorithm).update(text).digest('hex')
  }
}

function checkSize(text: string, spend: CountSteps): void {
  if (text.length > MAX_TEXT) throw new CelBudgetError(`it reads a document of more than ${MAX_TEXT} characters`)
  spend(text.length / 10)
}

function parsed(text: string, spend: CountSteps): CelValue {
  checkSize(text, spend)
  if (depthOf(text) > MAX_DEPTH) throw tooDeep()
  try {
    return doubles(JSON.parse(text) as Json)
  } catch (error) {
    if (error instanceof SyntaxError) throw new CelError('invalid JSON')
    throw error
  }
}

const tooDeep = () => new CelBudgetError(`it reads or writes a document of more than ${MAX_DEPTH} levels`)

/** Brackets that are open at once. */
function depthOf(text: string): number {
  let [depth, most] = [0, 0]
  for (const [mark] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (mark === '[' || mark === '{') most = Math.max(most, ++depth)
    else if (mark === ']' || mark === '}') depth--
  }
  return most
}

/** Go decodes every number of JSON as a double. */
function doubles(json: Json): CelValue {
  if (Array.isArray(json)) return json.map(doubles)
  if (json === null || typeof json !== 'object') return json
  return new CelMap(new Map(Object.entries(json).map(([key, item]) => [`s${key}`, [key, doubles(item)] as const])))
}

function yamlValue(text: string, spend: CountSteps): CelValue {
  checkSize(text, spend)
  try {
    const [root] = parseDocuments({ repository: '', path: 'yaml.parse' }, new TextEncoder().encode(text))
    return root ? doubles(toJson(root)) : null
  } catch (error) {
    // YAML readers disagree on it, so it is not certainly an error
    if (error instanceof BailiwickError)
      throw new CelUnknownError(`yaml.parse of a text that is not read: ${error.message}`)
    throw error
  }
}

/** As Go encodes JSON: sorted keys, escaped HTML characters. */
function jsonText(value: CelValue, spend: CountSteps, depth: number): string {
  spend(1)
  if (depth > MAX_DEPTH) throw tooDeep()
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return quoted(value, spend)
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Unsigned) return String(value.value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new CelError('json: unsupported value')
    return String(value)
  }
  if (value instanceof NotKnown) throw new CelUnknownError(value.why)
  if (isList(value)) return `[${value.map(item => jsonText(item, spend, depth + 1)).join(',')}]`
  if (!(value instanceof CelMap)) throw new CelUnknownError('json.marshal of a value that is not JSON')
  const entries = [...value.entries.values()].map(([key, item]) => {
    if (typeof key !== 'string') throw new CelError('json: unsupported map key type')
    return [key, item] as const
  })
  entries.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return `{${entries.map(([key, item]) => `${quoted(key, spend)}:${jsonText(item, spend, depth + 1)}`).join(',')}}`
}

function quoted(text: string, spend: CountSteps): string {
  spend(text.length / 10)
  return JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
