import { readAnchor } from './anchors.ts'
import { type ContextValue, type Fields, isFields } from './jmespath/values.ts'
import { matchesWildcard } from './jmespath/wildcard.ts'

/**
 * A pattern with the wildcards in its keys of labels and annotations replaced by keys of the object that they stand for
 * (pkg/engine/wildcards of Kyverno, which leaves out what is not a text).
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
    const isWild = /[*?]/.test(written)
    const found = isWild ? ([...there.keys()].find(key => matchesWildcard(name, key)) ?? name) : name
    made.set(anchor ? `${anchor.modifier}(${found})` : found, value)
  }
  return made
}
