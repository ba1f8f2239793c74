import { canonical, type MapNode, type Node } from '../../kube/node.ts'
import { keyOf } from '../key-of.ts'
import type { CustomSchema } from './custom-schema.ts'

/**
 * The value before an update, as far as the API server can correlate it: fields by name, list items by key
 * (k8s.io/apiserver pkg/cel/common, CorrelatedObject). An unchanged value may keep violating a rule.
 */
export interface Correlated {
  /** Undefined if no old value correlates with this one. */
  readonly old: Node | undefined
  /** The value is unchanged or, if it has no old value, the closest correlated value around it is. */
  readonly isSame: boolean
}

/** For a new object. */
export const NOTHING_BEFORE: Correlated = { old: undefined, isSame: false }

export function correlatedRoot(root: MapNode, old: MapNode | undefined): Correlated {
  return old === undefined ? NOTHING_BEFORE : { old, isSame: canonical(root) === canonical(old) }
}

export function correlatedField({ old, isSame }: Correlated, key: string, value: Node): Correlated {
  const before = old?.type === 'map' ? old.fields.get(key)?.value : undefined
  return before === undefined ? { old: undefined, isSame } : pair(before, value)
}

/** The correlated items of a list, in order. */
export function correlatedItems(
  { old, isSame }: Correlated,
  items: readonly Node[],
  schema: CustomSchema,
): Correlated[] {
  const none: Correlated = { old: undefined, isSame }
  const { keys } = schema
  if (old?.type !== 'list' || keys === '=' || keys.length === 0) return items.map(() => none)
  const before = new Map<string, Node>()
  for (const item of old.items) {
    const key = keyOf(item, keys, NO_DEFAULTS)
    if (key !== undefined && !before.has(key)) before.set(key, item)
  }
  return items.map(item => {
    const key = keyOf(item, keys, NO_DEFAULTS)
    const was = key === undefined ? undefined : before.get(key)
    return was === undefined ? none : pair(was, item)
  })
}

/** The value already includes the defaults. */
const NO_DEFAULTS: ReadonlyMap<string, string> = new Map()

const pair = (old: Node, value: Node): Correlated => ({ old, isSame: canonical(value) === canonical(old) })
