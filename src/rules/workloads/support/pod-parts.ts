import { at, itemsOf, type MapNode, type Node, type Path } from '../../../kube/node.ts'
import { annotationsOf } from '../../../kube/pod-spec-paths.ts'
import { everyMap } from '../../model/every-map.ts'

/** The lists of a pod in which its containers stand. */
export const CONTAINER_LISTS: ReadonlySet<string> = new Set(['initContainers', 'containers', 'ephemeralContainers'])

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

/** The pod of a built-in kind; undefined where there is none to speak of. */
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

/** Whether a pod runs in a user namespace of its own, where root is nobody outside. */
export function isInUserNamespace(spec: MapNode): boolean {
  const node = at(spec, ['hostUsers'])
  return node?.type === 'scalar' && node.value === false
}

/** Pods in an object of a custom kind: what has a list of containers. */
export function* podsWithin(root: Node): Iterable<Pod> {
  for (const { path, node } of everyMap(root)) {
    const lists = [...CONTAINER_LISTS].map(list => node.fields.get(list)?.value)
    if (lists.some(list => list?.type === 'list' && list.items.some(item => item.type === 'map'))) {
      yield { path, spec: node, annotations: annotationsOf(path) }
    }
  }
}
