import { isDeepStrictEqual } from 'node:util'
import type { Json } from '../kube/node.ts'
import { itemsAt, jsonAt, mapAt, stringAt } from './json-at.ts'
import { isOurs } from './take-over-patch.ts'

/** What someone else changed of an object: names only, never a value. */
export interface ObjectDrift {
  /** Fields that an apply puts back, `spec.replicas`; not all of them. */
  readonly fields: readonly string[]
  /** Field managers to which the API server ascribes them, by name; empty where it does not say. */
  readonly managers: readonly string[]
}

const MAX_FIELDS = 10
const MAX_MANAGERS = 5
const MAX_DEPTH = 40

type Path = readonly (string | number)[]

/** What an apply would put back, by its dry run, and who has these fields now. Linear in the object. */
export function driftOf(live: Json, dryRun: Json): ObjectDrift {
  const paths: Path[] = []
  differences(comparedPart(live), comparedPart(dryRun), [], paths)
  const entries = itemsAt(live, 'metadata', 'managedFields').filter(
    entry => !isOurs(entry) && stringAt(entry, 'subresource') === '',
  )
  const owning = entries.filter(entry => paths.length === 0 || paths.some(path => owns(entry, path)))
  const managers = new Set(owning.map(entry => stringAt(entry, 'manager')).filter(name => name !== ''))
  return { fields: paths.map(textOf), managers: [...managers].sort().slice(0, MAX_MANAGERS) }
}

function comparedPart(object: Json): Json {
  const { metadata: _metadata, status: _status, ...content } = mapAt(object)
  const labels = { ...mapAt(object, 'metadata', 'labels') }
  const annotations = { ...mapAt(object, 'metadata', 'annotations') }
  return { metadata: { labels, annotations }, ...content }
}

function differences(was: Json | undefined, now: Json | undefined, path: Path, found: Path[]): void {
  if (found.length >= MAX_FIELDS || isDeepStrictEqual(was, now)) return
  const isList = Array.isArray(was) && Array.isArray(now)
  if (path.length >= MAX_DEPTH || !(isList || (isMap(was) && isMap(now)))) {
    found.push(path)
    return
  }
  if (isList) {
    const length = Math.max(was.length, now.length)
    for (let at = 0; at < length && found.length < MAX_FIELDS; at++) differences(was[at], now[at], [...path, at], found)
    return
  }
  const [before, after] = [mapAt(was), mapAt(now)]
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
    differences(jsonAt(before, key), jsonAt(after, key), [...path, key], found)
}

const isMap = (value: Json | undefined): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Items of lists have keys of their own there: the list counts for each of them. */
function owns(entry: Json, path: Path): boolean {
  let here = jsonAt(entry, 'fieldsV1')
  for (const step of path) {
    if (typeof step === 'number') return here !== undefined
    here = jsonAt(here, `f:${step}`)
    if (here === undefined) return false
  }
  return true
}

function textOf(path: Path): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('')
}
