import { FLUX_KINDS } from '../../flux/kinds.ts'
import { at, type MapNode, type Node, type Path, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { isKubernetesKind } from '../../kube/scope/scope.ts'
import type { ImageUse } from './image-use.ts'
import { OPERATED_KINDS } from './operated-kinds.ts'

/** Lists of containers: those of a Pod, and those that Tekton and Argo Workflows put into one. */
const LISTS: Readonly<Record<string, ImageUse['list']>> = {
  initContainers: 'initContainers',
  containers: 'containers',
  ephemeralContainers: 'ephemeralContainers',
  sidecars: 'containers',
  steps: 'containers',
}
/** A single container of Argo Workflows, Tekton or KubeVirt. */
const SINGLE = new Set(['container', 'script', 'stepTemplate', 'containerDisk'])

const FLUX_GROUPS = new Set(FLUX_KINDS.map(({ group }) => group))
/** Groups whose objects hold patterns of containers, or other objects. */
const OTHERS = /^(?:kyverno\.io|policies\.kyverno\.io|(?:.*\.)?gatekeeper\.sh|policies\.kubewarden\.io)$/

/** Whether a kind is of a project whose controller may make Pods of its objects. */
export function mayMakePods(kind: string): boolean {
  const group = kind.slice(0, kind.indexOf('/'))
  return !isKubernetesKind(kind) && !FLUX_GROUPS.has(group) && !OTHERS.test(group)
}

/** The images that an object of a custom kind names: in containers, wherever they are, and in fields of operators. */
export function customImageUses(kind: string, root: Node): ImageUse[] {
  if (!mayMakePods(kind)) return []
  const found: ImageUse[] = []
  walk(root, [], found)
  const seen = new Set(found.map(({ path }) => path.join('/')))
  for (const path of OPERATED_KINDS.get(kind) ?? []) {
    if (!seen.has(path.join('/'))) found.push(...useAt(root, path, 'containers'))
  }
  return found
}

/** Whether an operator chooses the image that an object runs. */
export function isImageHidden(kind: string, object: KubeObject, uses: readonly ImageUse[]): boolean {
  const fields = OPERATED_KINDS.get(kind)
  if (!fields) return false
  const [main] = fields
  return main ? useAt(object.root, main, 'containers').length === 0 : uses.length === 0
}

function walk(node: Node, path: Path, found: ImageUse[]): void {
  if (node.type === 'list') {
    for (const [index, item] of node.items.entries()) walk(item, [...path, index], found)
    return
  }
  if (node.type !== 'map') return
  // an embedded object is one of its own
  if (path.length > 0 && isObject(node)) return
  for (const [key, { value }] of node.fields) {
    const list = LISTS[key]
    const here = [...path, key]
    const own = list ? ofList(value, here, list) : SINGLE.has(key) ? useAt(value, ['image'], 'containers', here) : []
    if (own.length > 0) found.push(...own)
    else walk(value, here, found)
  }
}

const isObject = (node: MapNode) =>
  stringAt(node, ['apiVersion']) !== undefined && stringAt(node, ['kind']) !== undefined

function ofList(node: Node, path: Path, list: ImageUse['list']): ImageUse[] {
  if (node.type !== 'list') return []
  return node.items.flatMap((item, index) => useAt(item, ['image'], list, [...path, index]))
}

/** The image at a path; none where it is absent, and where it is no text. */
export function useAt(node: Node, path: Path, list: ImageUse['list'], before: Path = []): ImageUse[] {
  const image = at(node, path)
  if (image?.type !== 'scalar' || image.value === null || image.value === '') return []
  return [{ path: [...before, ...path], list, written: image.opaque ? undefined : String(image.value) }]
}
