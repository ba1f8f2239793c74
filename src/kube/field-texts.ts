import { canonical, type Node } from './node.ts'

/** The fields of a map that count for a comparison, by name, each with its value as text; none for what is not a map. */
export function fieldTexts(map: Node | undefined, counts: (name: string) => boolean): (readonly [string, string])[] {
  if (map?.type !== 'map') return []
  const fields = [...map.fields].flatMap(([name, { value }]) =>
    counts(name) ? [[name, canonical(value)] as const] : [],
  )
  return fields.sort(([a], [b]) => (a < b ? -1 : 1))
}
