import type { Json } from '../kube/node.ts'

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

/** The items of the list at `path`; none where there is no list. */
export function itemsAt(json: Json | undefined, ...path: readonly string[]): readonly Json[] {
  const found = jsonAt(json, ...path)
  return Array.isArray(found) ? found : []
}

/** The map at `path`; empty where there is none. */
export function mapAt(json: Json | undefined, ...path: readonly string[]): Readonly<Record<string, Json>> {
  const found = jsonAt(json, ...path)
  return found !== null && typeof found === 'object' && !Array.isArray(found) ? found : {}
}
