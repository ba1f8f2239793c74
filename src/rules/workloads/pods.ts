import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { KUBERNETES } from '../../kube/capabilities/scope.ts'
import { isToolkitKind } from '../../kube/flux-kinds.ts'
import { at, itemsOf, type MapNode, type Node, type Path } from '../../kube/node.ts'
import { annotationsOf, POD_SPEC_PATHS } from '../../kube/object.ts'
import { everyMap } from '../model/object-values.ts'
import type { Subject } from '../model/rule.ts'

/** The lists of a pod in which its containers stand. */
const CONTAINER_LISTS: ReadonlySet<string> = new Set(['initContainers', 'containers', 'ephemeralContainers'])

/** One pod that an object describes. */
export interface Pod {
  readonly path: Path
  readonly spec: MapNode
  readonly annotations: Path
}

/** A container of any sort, and where it stands in its object. */
export interface Container {
  readonly path: Path
  readonly node: MapNode
}

/** The pod of a built-in kind; undefined if there is none. */
export function podAt(root: Node, path: Path): Pod | undefined {
  const spec = at(root, path)
  return spec?.type === 'map' ? { path, spec, annotations: annotationsOf(path) } : undefined
}

/** Every container of a pod. */
export function containersOf({ path, spec }: Pod): Container[] {
  return [...CONTAINER_LISTS].flatMap(list => {
    const items = itemsOf(at(spec, [list]))
    return items.flatMap((node, index) => (node.type === 'map' ? [{ path: [...path, list, index], node }] : []))
  })
}

/** Whether a pod runs in its own user namespace, where root has no rights outside. */
export function isInUserNamespace(spec: MapNode): boolean {
  const node = at(spec, ['hostUsers'])
  return node?.type === 'scalar' && node.value === false
}

/** Pods in an object of a custom kind: what has a list of containers. */
function* podsWithin(root: Node): Iterable<Pod> {
  for (const { path, node } of everyMap(root)) {
    const lists = [...CONTAINER_LISTS].map(list => node.fields.get(list)?.value)
    if (lists.some(list => list?.type === 'list' && list.items.some(item => item.type === 'map'))) {
      yield { path, spec: node, annotations: annotationsOf(path) }
    }
  }
}

/** The pods that an object describes, whatever its kind. */
export function podsOf(subject: Subject, index: FleetIndex): Iterable<Pod> {
  const path = POD_SPEC_PATHS.get(subject.kind)
  if (!path) return isCustomKind(subject, index, CONTAINER_LISTS) ? podsWithin(subject.object.root) : []
  const pod = podAt(subject.object.root, path)
  return pod ? [pod] : []
}

const BUILT_IN = new Set(
  Object.entries(KUBERNETES).flatMap(([group, { namespaced, cluster }]) =>
    `${namespaced} ${cluster}`.split(' ').map(kind => `${group}/${kind}`),
  ),
)
// The past states of a workload are whole templates.
BUILT_IN.delete('apps/ControllerRevision')

/**
 * Whether an object is of a kind that some controller may make workloads of, in a namespace: none of Kubernetes itself,
 * and with one of the keys that tell so.
 */
export function isCustomKind(
  { kind, id, node, object }: Subject,
  index: FleetIndex,
  keys: ReadonlySet<string>,
): boolean {
  if (BUILT_IN.has(kind) || isToolkitKind(kind) || !hasKey(object.root, keys)) return false
  return index.scopeOf(node.cluster, id.apiVersion, id.kind) !== 'Cluster'
}

/** Whether any map below a node has one of these keys; a cheap test, because most objects have none. */
function hasKey(node: Node, keys: ReadonlySet<string>): boolean {
  if (node.type === 'scalar') return false
  if (node.type === 'list') return node.items.some(item => hasKey(item, keys))
  for (const [key, { value }] of node.fields) if (keys.has(key) || hasKey(value, keys)) return true
  return false
}
