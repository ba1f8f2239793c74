import type { MapNode, Node, Path } from '../../kube/node.ts'
import { parsePattern } from '../../kustomize/select/parse-pattern.ts'
import { PatternError } from '../../kustomize/select/pattern-error.ts'
import type { Problem } from '../model/problem.ts'
import { isFilled } from './is-filled.ts'
import { badValue, forbiddenField, itemsIn, mapIn, textIn } from './read-field.ts'

type Add = (problem: Problem) => void

const LOGIC = ['allOf', 'anyOf', 'oneOf'] as const
/** What a part of `allOf`, `anyOf`, `oneOf` and `not` must leave to the schema around it. */
const OUTSIDE = [
  ...['type', 'nullable', 'description', 'default', 'additionalProperties', 'title'],
  ...['list-type', 'list-map-keys', 'map-type', 'preserve-unknown-fields', 'embedded-resource', 'int-or-string'].map(
    name => `x-kubernetes-${name}`,
  ),
  'x-kubernetes-validations',
]

/** `allOf`, `anyOf`, `oneOf` and `not` only restrict values (pkg/apiserver/schema, validateNestedValueValidation). */
export function checkLogic(schema: MapNode, path: Path, add: Add): void {
  const isMixed = isIntegerOrString(itemsIn(schema, 'anyOf'))
  const [first] = itemsIn(schema, 'allOf')
  const isFirstMixed = first?.type === 'map' && isIntegerOrString(itemsIn(first, 'anyOf'))
  checkParts(schema, path, isMixed, isFirstMixed, add)
}

function checkParts(schema: MapNode, path: Path, skipsAny: boolean, skipsAnyOfFirst: boolean, add: Add): void {
  for (const name of LOGIC) {
    if (name === 'anyOf' && skipsAny) continue
    for (const [index, part] of itemsIn(schema, name).entries())
      if (part.type === 'map')
        checkPart(part, [...path, name, index], skipsAnyOfFirst && name === 'allOf' && index === 0, add)
  }
  const not = mapIn(schema, 'not')
  if (not) checkPart(not, [...path, 'not'], false, add)
}

function checkPart(part: MapNode, path: Path, skipsAny: boolean, add: Add): void {
  for (const name of OUTSIDE)
    if (isFilled(part, name)) add(forbiddenField([...path, name], 'this field outside of allOf, anyOf, oneOf and not'))
  checkPattern(part, path, add)
  checkParts(part, path, skipsAny, false, add)
  const items = mapIn(part, 'items')
  if (items) checkPart(items, [...path, 'items'], false, add)
  for (const [name, { value }] of mapIn(part, 'properties')?.fields ?? []) {
    const here = [...path, 'properties', name]
    if (name === 'metadata') add(forbiddenField(here, 'metadata outside of allOf, anyOf, oneOf and not'))
    if (value.type === 'map') checkPart(value, here, false, add)
  }
}

/** The one way to write a type in alternatives that is allowed. */
function isIntegerOrString(parts: readonly Node[]): boolean {
  const isOnly = (part: Node | undefined, type: string) =>
    part?.type === 'map' &&
    textIn(part, 'type') === type &&
    [...part.fields.keys()].every(key => key === 'type' || !isFilled(part, key))
  return parts.length === 2 && isOnly(parts[0], 'integer') && isOnly(parts[1], 'string')
}

/** Patterns that are kept with their answer; a large project has some hundreds. */
const KEPT = 5_000
const patterns = new Map<string, string | undefined>()

/** Go has to understand a pattern. */
export function checkPattern(schema: MapNode, path: Path, add: Add): void {
  const pattern = schema.fields.has('pattern') ? textIn(schema, 'pattern') : undefined
  const refusal = pattern ? patternRefusal(pattern) : undefined
  if (refusal !== undefined)
    add(badValue([...path, 'pattern'], 'a regular expression of Go (RE2)', `a pattern with ${refusal}`))
}

/** What Go refuses in a pattern; undefined also where that is not known. */
export function patternRefusal(pattern: string): string | undefined {
  if (!patterns.has(pattern)) {
    if (patterns.size >= KEPT) patterns.clear()
    patterns.set(pattern, refusalOf(pattern))
  }
  return patterns.get(pattern)
}

function refusalOf(pattern: string): string | undefined {
  try {
    parsePattern(pattern)
    return undefined
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    return error.invalid ? error.message : undefined
  }
}
