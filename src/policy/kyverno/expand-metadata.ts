import { readAnchor } from './anchors.ts'
import { type ContextValue, type Fields, isFields, NotEvaluatedError } from './jmespath/values.ts'
import { matchesWildcard } from './jmespath/wildcard.ts'
import { matchesValue } from './match-value.ts'

/**
 * Replaces wildcards in the label and annotation keys of a pattern by the matching keys of the object
 * (pkg/engine/wildcards of Kyverno, which omits values that are not text).
 */
export function expandMetadata(pattern: Fields, given: Fields): Fields {
  const [metadataKey, metadata] = entryOf(pattern, 'metadata')
  const own = given.get('metadata')
  if (metadataKey === undefined || !isFields(metadata) || !isFields(own)) return pattern
  const made = new Map(metadata)
  for (const tag of ['labels', 'annotations']) {
    const [key, wanted] = entryOf(metadata, tag)
    const there = own.get(tag)
    if (key !== undefined && isFields(wanted) && isFields(there)) made.set(key, expanded(wanted, there))
  }
  return new Map([...pattern, [metadataKey, made]])
}

function entryOf(fields: Fields, name: string): readonly [string, ContextValue] | readonly [undefined, undefined] {
  for (const [written, value] of fields) {
    if (written === name || readAnchor(written)?.key === name) return [written, value]
  }
  return [undefined, undefined]
}

function expanded(wanted: Fields, there: Fields): Fields {
  const made = new Map<string, ContextValue>()
  for (const [written, value] of wanted) {
    if (typeof value !== 'string') continue
    const anchor = readAnchor(written)
    const name = anchor?.key ?? written
    const found = /[*?]/.test(written) ? keyLike(name, value, there) : name
    made.set(anchor ? `${anchor.modifier}(${found})` : found, value)
  }
  return made
}

/** Kyverno picks an arbitrary matching key. If the choice affects the result, the result is unknown. */
function keyLike(name: string, wanted: string, there: Fields): string {
  const keys = [...there.keys()].filter(key => matchesWildcard(name, key))
  const [first] = keys
  if (first === undefined) return name
  const answers = keys.length > 1 ? keys.map(key => matchesValue(wanted, there.get(key)!)) : []
  if (answers.includes(true) && answers.includes(false)) {
    throw new NotEvaluatedError(`several keys are like ${name}, and Kyverno compares one of them`)
  }
  return first
}
