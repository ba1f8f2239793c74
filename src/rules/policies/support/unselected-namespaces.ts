import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { namespaceLabels } from '../../../facts/namespace-labels.ts'
import { quoted } from '../../../facts/shown.ts'
import { readLabelSelector, selects } from '../../../kube/label-selector.ts'
import { at, type Node, type Path } from '../../../kube/node.ts'
import { idOf, type KubeObject } from '../../../kube/object.ts'
import { type Message, message } from '../../../message/message.ts'
import type { Origin } from '../../../origin.ts'

/** A Namespace of the platform whose labels a change edits. */
interface RelabeledNamespace {
  readonly name: string
  readonly origin: Origin
  readonly was: ReadonlyMap<string, string>
  readonly is: ReadonlyMap<string, string>
}

/** The Namespaces that the platform has on both sides of a change with other labels. */
export function relabeledNamespaces(before: FleetIndex, index: FleetIndex, cluster: string): RelabeledNamespace[] {
  return before.platformAnywhere(cluster, '/Namespace').flatMap(({ object }) => {
    const { name } = idOf(object)
    const now = index.platformObject(cluster, '/Namespace', '', name)
    if (!now || now.root === object.root) return []
    const [was, is] = [namespaceLabels(before, cluster, name), namespaceLabels(index, cluster, name)]
    const isSame = was.size === is.size && [...was].every(([key, value]) => is.get(key) === value)
    const origin = (at(now.root, ['metadata', 'labels']) ?? now.root).origin
    return isSame ? [] : [{ name, origin, was, is }]
  })
}

interface Unselected {
  readonly path: Path
  readonly origin: Origin
  readonly what: Message
  readonly value: string
}

/** The Namespaces that a policy selected by their labels and selects no more, or excludes from now on, although it is the same. */
export function* unselectedNamespaces(
  policy: KubeObject,
  relabeled: readonly RelabeledNamespace[],
): Iterable<Unselected> {
  if (relabeled.length === 0) return
  for (const { path, node } of selectorsIn(policy.root)) {
    const selector = readLabelSelector(node)
    if (!selector) continue
    const excludes = path.includes('exclude')
    for (const { name, origin, was, is } of relabeled) {
      if (selects(selector, was) === excludes || selects(selector, is) !== excludes) continue
      const what = message`no longer applies to namespace ${quoted('object', name)}, whose labels change`
      yield { path, origin, what, value: `${path.join('/')} without ${name}` }
    }
  }
}

function* selectorsIn(root: Node, path: Path = []): Iterable<{ readonly path: Path; readonly node: Node }> {
  if (root.type === 'list') for (const [index, item] of root.items.entries()) yield* selectorsIn(item, [...path, index])
  if (root.type !== 'map') return
  for (const [key, { value }] of root.fields) {
    if (key === 'namespaceSelector') yield { path: [...path, key], node: value }
    else if (value.type !== 'scalar') yield* selectorsIn(value, [...path, key])
  }
}
