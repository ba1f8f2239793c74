import type { SourceLine } from '../origin.ts'
import type { FieldLines } from './field-lines.ts'
import { fieldPath } from './field-path.ts'
import type { Json } from './node.ts'

/**
 * The line of a field that the API server names, such as `spec.containers[0].image`. `text`: the canonical text of the
 * object. Of a field that the object does not have, the line of the nearest part above it; undefined where that is the object itself.
 */
export function lineOfField(text: string, { files, steps }: FieldLines, field: string): SourceLine | undefined {
  const object = JSON.parse(text) as Json
  const found = indexesOf(object, fieldPath(object, field))
  const last = found.at(-1)
  if (last === undefined) return undefined
  let file = -1
  let line = 0
  let place: SourceLine | undefined
  for (const [index, step] of steps.split(',').entries()) {
    const [, other, delta = ''] = /^(?:@(\d+):)?(-?[0-9a-z]+)$/.exec(step) ?? []
    if (other !== undefined) file = Number(other)
    line += Number.parseInt(delta, 36)
    const written = files[file]
    // what was generated is in no file: its parent is
    if (found.includes(index) && written && written.file !== '') place = { ...written, line }
    if (index === last) break
  }
  return place
}

/** The places of the values along a path in the order of the canonical text. */
function indexesOf(object: Json, path: readonly (string | number)[]): number[] {
  const found: number[] = []
  let index = 0
  const visit = (value: Json, depth: number | undefined) => {
    for (const [step, child] of childrenOf(value)) {
      const isOn = depth !== undefined && path[depth] === step
      if (isOn) found.push(index)
      index++
      visit(child, isOn ? depth + 1 : undefined)
    }
  }
  visit(object, 0)
  return found
}

function childrenOf(value: Json): (readonly [string | number, Json])[] {
  if (Array.isArray(value)) return value.map((item, index) => [index, item as Json] as const)
  if (value === null || typeof value !== 'object') return []
  const map = value as { readonly [key: string]: Json }
  return Object.keys(map)
    .sort()
    .map(key => [key, map[key]!] as const)
}
