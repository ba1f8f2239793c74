import { type Json, toJson } from '../../../src/kube/node.ts'
import type { Operation, PathStep } from '../../../src/verdict/diff/diff-nodes.ts'

interface Edit {
  readonly path: readonly PathStep[]
  readonly operation: Operation
}

/** What operations make of a value. Items that are added where order means nothing stand at the place that they name. */
export function applyOperations(before: Json, operations: readonly Operation[]): Json {
  const edits = operations.filter(({ was, now }) => was || now)
  return edited(
    before,
    edits.map(operation => ({ path: operation.path, operation })),
  ) as Json
}

/** Undefined: it is not there any more. */
function edited(value: Json | undefined, edits: readonly Edit[]): Json | undefined {
  const whole = edits.find(({ path }) => path.length === 0)
  if (whole) return whole.operation.now ? toJson(whole.operation.now) : undefined
  if (edits.length === 0) return value
  return Array.isArray(value) ? editedList(value, edits) : editedMap(value as Record<string, Json>, edits)
}

function editedMap(map: Readonly<Record<string, Json>>, edits: readonly Edit[]): Json {
  const out: Record<string, Json> = { ...map }
  for (const [name, below] of Map.groupBy(edits, ({ path }) => path[0] as string)) {
    const value = edited(map[name], below.map(deeper))
    if (value === undefined) delete out[name]
    else out[name] = value
  }
  return out
}

function editedList(list: readonly Json[], edits: readonly Edit[]): Json {
  const isAdded = ({ path, operation }: Edit) => path.length === 1 && !operation.was
  const at = ({ path }: Edit) => (path[0] as { at: number }).at
  const changed = Map.groupBy(
    edits.filter(edit => !isAdded(edit)),
    at,
  )
  const kept = list.flatMap((item, index) => {
    const value = edited(item, (changed.get(index) ?? []).map(deeper))
    return value === undefined ? [] : [value]
  })
  for (const edit of edits.filter(isAdded).sort((a, b) => at(a) - at(b)))
    kept.splice(at(edit), 0, toJson(edit.operation.now!))
  return kept
}

const deeper = ({ path, operation }: Edit): Edit => ({ path: path.slice(1), operation })
