import type { Json } from '../../../src/kube/node.ts'

type JsonMap = Record<string, Json>
type Place = (string | number)[]

interface Mutant {
  readonly what: string
  readonly changed: JsonMap
}

const CHANGES = [
  'less',
  'renamed',
  'number',
  'text',
  'list',
  'null',
  'twice',
  'empty',
  'negative',
  'upper',
  'long',
] as const

/** Fields, items and the name and labels of an object. */
function placesIn(object: JsonMap): Place[] {
  const places: Place[] = []
  const visit = (value: Json, path: Place): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, inner] of Object.entries(value)) {
      if (path.length === 0 && ['apiVersion', 'kind'].includes(key)) continue
      const here = [...path, Array.isArray(value) ? Number(key) : key]
      if (here.join('.') === 'metadata.namespace' || here.join('.') === 'metadata') {
        if (key === 'metadata') visit(inner as Json, here)
        continue
      }
      places.push(here)
      visit(inner as Json, here)
    }
  }
  visit(object, [])
  return places
}

/** The object with one change at one place. */
function changedAt(object: JsonMap, place: Place, kind: (typeof CHANGES)[number]): JsonMap | undefined {
  const changed = structuredClone(object)
  const parent = place.slice(0, -1).reduce((at, step) => at[step] as JsonMap, changed)
  const key = String(place.at(-1))
  const isName = place.join('.') === 'metadata.name'
  if (isName && !['upper', 'long', 'text'].includes(kind)) return undefined
  const value = parent[key]!
  if (kind === 'less') Array.isArray(parent) ? parent.splice(Number(key), 1) : delete parent[key]
  else if (kind === 'renamed') {
    if (Array.isArray(parent)) return undefined
    parent[`${key}x`] = value
    delete parent[key]
  } else if (kind === 'number') parent[key] = 7
  else if (kind === 'text') parent[key] = 'word'
  else if (kind === 'null') parent[key] = null
  else if (kind === 'twice') {
    if (!Array.isArray(parent)) return undefined
    parent.push(structuredClone(value))
  } else if (kind === 'list') parent[key] = [true]
  else if (kind === 'empty') parent[key] = Array.isArray(value) ? [] : typeof value === 'object' ? {} : ''
  else if (kind === 'negative') {
    if (typeof value !== 'number') return undefined
    parent[key] = -1
  } else {
    if (typeof value !== 'string') return undefined
    parent[key] = kind === 'upper' ? `${value}_A ` : value.repeat(80)
  }
  return changed
}

/** The object with one change at one place, two ways at each place; all ways over all places. */
export function* mutants(object: JsonMap): Generator<Mutant> {
  for (const [index, place] of placesIn(object).entries()) {
    for (const at of [index, index + 4]) yield* mutant(object, place, at)
  }
}

/** Some of these changes, at places that `seed` chooses. */
export function* someMutants(object: JsonMap, seed: number, count: number): Generator<Mutant> {
  const places = placesIn(object)
  for (let at = 0; at < count && places.length > 0; at++)
    yield* mutant(object, places[(seed * 7 + at * 13) % places.length]!, seed + at * 5)
}

function* mutant(object: JsonMap, place: Place, at: number): Generator<Mutant> {
  const kind = CHANGES[at % CHANGES.length]!
  const changed = changedAt(object, place, kind)
  if (changed) yield { what: `${kind} ${place.join('.')}`, changed }
}
