import { isDeepStrictEqual } from 'node:util'
import type { Json } from '../kube/node.ts'
import { itemsAt, jsonAt, mapAt, stringAt } from './json-at.ts'
import { pointed } from './json-pointer.ts'

/**
 * Whether somebody else than `manager` applies the field (server-side apply, not an update): then it is theirs, and an
 * apply that leaves it out keeps their value. As isFieldOwnedByOtherApplyManager of fluxcd/pkg ssa.
 */
export function isAppliedByOther(live: Json, steps: readonly string[], manager: string): boolean {
  const entries = itemsAt(live, 'metadata', 'managedFields').filter(
    entry => stringAt(entry, 'operation') === 'Apply' && stringAt(entry, 'subresource') === '',
  )
  const trees = entries.map(entry => mapAt(entry, 'fieldsV1'))
  const names = fieldNames(live, steps, trees)
  if (!names) return false
  return entries.some((entry, index) => stringAt(entry, 'manager') !== manager && isOwned(trees[index]!, names))
}

type Tree = Readonly<Record<string, Json>>

/** The steps as managedFields has them: an item of a list by its keys. Undefined where that is not known. */
function fieldNames(live: Json, steps: readonly string[], trees: readonly Tree[]): string[] | undefined {
  const names: string[] = []
  for (const [depth, step] of steps.entries()) {
    const list = pointed(live, steps.slice(0, depth))
    if (!Array.isArray(list)) {
      names.push(`f:${step}`)
      continue
    }
    const item = list[Number(step)]
    const keys = new Set(trees.flatMap(tree => Object.keys(mapAt(jsonAt(tree, ...names)))))
    const key = [...keys].find(one => one.startsWith('k:') && isKeyOf(one, item))
    if (key === undefined) return undefined
    names.push(key)
  }
  return names
}

function isKeyOf(name: string, item: Json | undefined): boolean {
  const keys = mapAt(parsed(name.slice(2)))
  const fields = mapAt(item)
  return Object.entries(keys).every(([key, value]) => isDeepStrictEqual(fields[key], value))
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    // the API server writes JSON there; another text is the key of nothing
    return null
  }
}

function isOwned(tree: Tree, names: readonly string[]): boolean {
  return jsonAt(tree, ...names) !== undefined
}
