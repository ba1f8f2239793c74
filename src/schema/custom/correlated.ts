import { canonical, type MapNode, type Node } from '../../kube/node.ts'
import { keyOf } from '../key-of.ts'
import type { CustomSchema } from './custom-schema.ts'

/**
 * What a value was before an update, as far as the API server relates the two: fields by name, items of a list by its keys
 * (k8s.io/apiserver pkg/cel/common, CorrelatedObject). Values that did not change keep what a rule has against them.
 */
export interface Correlated {
  /** Undefined where nothing before is related to the value. */
  readonly old: Node | undefined
  /** The value, or the last one around it that is related to one before, is what it was. */
  readonly isSame: boolean
}

/** Of an object that is new. */
export const NOTHING_BEFORE: Correlated = { old: undefined, isSame: false }

export function correlatedRoot(root: MapNode, old: MapNode | undefined): Correlated {
  return old === undefined ? NOTHING_BEFORE : { old, isSame: canonical(root) === canonical(old) }
}

export function correlatedField({ old, isSame }: Correlated, key: string, value: Node): Correlated {
  const before = old?.type === 'map' ? old.fields.get(key)?.value : undefined
  return before === undefined ? { old: undefined, isSame } : pair(before, value)
}

/** The items of a list, in their order. */
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
    const was = before.get(keyOf(item, keys, NO_DEFAULTS) ?? '')
    return was === undefined ? none : pair(was, item)
  })
}

/** They stand in the value already. */
const NO_DEFAULTS = {}

const pair = (old: Node, value: Node): Correlated => ({ old, isSame: canonical(value) === canonical(old) })
