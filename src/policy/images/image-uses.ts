import { at, itemsOf, type Path } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { POD_SPEC_PATHS } from '../../kube/pod-spec-paths.ts'
import type { ImageUse } from './image-use.ts'

const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const

/** Templates from which nothing runs by itself. */
const DORMANT = new Set(['/PodTemplate', 'batch/JobTemplate'])

/** The path of the Pod that an object of a kind runs; undefined for other kinds. */
export function runningPodPath(kind: string): Path | undefined {
  return DORMANT.has(kind) ? undefined : POD_SPEC_PATHS.get(kind)
}

/** The kinds of Kubernetes that run containers, `<group>/<Kind>`. */
export const RUNNING_KINDS: readonly string[] = [...POD_SPEC_PATHS.keys()].filter(kind => !DORMANT.has(kind))

/** Every image that an object of a kind of Kubernetes runs, in the order of its containers. */
export function imageUses(kind: string, { root }: Pick<KubeObject, 'root'>): ImageUse[] {
  const pod = runningPodPath(kind)
  if (!pod) return []
  return LISTS.flatMap(list => {
    const items = itemsOf(at(root, [...pod, list]))
    return items.flatMap((item, index): ImageUse[] => {
      const image = at(item, ['image'])
      if (image?.type !== 'scalar' || image.value === null || image.value === '') return []
      const written = image.opaque ? undefined : String(image.value)
      return [{ path: [...pod, list, index, 'image'], list, written }]
    })
  })
}
