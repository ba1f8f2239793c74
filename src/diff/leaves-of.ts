import type { Node } from '../kube/node.ts'
import type { Operation, PathStep } from './diff-nodes.ts'
import { type Sealing, sealingIn, sealingOf } from './sealing.ts'

/** Leaves of what is added or removed as a whole; further ones are not told. */
const MAX_LEAVES = 300

/** What is added or removed as a whole, as the fields that it has; anything else as it is. */
export function leavesOf(operation: Operation): Operation[] {
  const { path, was, now, sealing } = operation
  const whole = was && now ? undefined : (was ?? now)
  if (!whole || whole.type === 'scalar' || isEmpty(whole)) return [operation]
  const leaves: Operation[] = []
  const walk = (node: Node, here: readonly PathStep[], within: Sealing): void => {
    if (leaves.length >= MAX_LEAVES) return
    if (node.type === 'scalar' || isEmpty(node)) {
      leaves.push({ path: here, sealing: within, ...(was ? { was: node } : { now: node }) })
    } else if (node.type === 'map') {
      const inside = sealingIn(within, [node])
      for (const [name, { value }] of [...node.fields].sort(([a], [b]) => (a < b ? -1 : 1))) {
        walk(value, [...here, name], sealingOf(inside, name, here.length + 1))
      }
    } else for (const [at, item] of node.items.entries()) walk(item, [...here, { at, ...labelOf(item) }], within)
  }
  walk(whole, path, sealing)
  return leaves
}

/** Whether it is a list or map with nothing in it. */
export function isEmpty(node: Node): boolean {
  return (node.type === 'map' && node.fields.size === 0) || (node.type === 'list' && node.items.length === 0)
}

function labelOf(item: Node): { label?: string } {
  const name = item.type === 'map' ? item.fields.get('name')?.value : undefined
  return name?.type === 'scalar' && typeof name.value === 'string' && !name.opaque ? { label: name.value } : {}
}
