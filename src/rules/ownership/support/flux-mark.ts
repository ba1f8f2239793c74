import { at, type Path, stringAt } from '../../../kube/node.ts'
import type { KubeObject } from '../../../kube/object.ts'

/** A label or annotation by which an object tells Flux how to treat it. */
interface FluxMark {
  readonly path: Path
  readonly key: string
  readonly value: string
}

/**
 * The marks of an object among `wanted` (values by key, lower case). Flux looks at labels as at annotations, and does not
 * care about case (fluxcd/pkg ssa, AnyInMetadata).
 */
export function fluxMarks(object: KubeObject, wanted: ReadonlyMap<string, readonly string[]>): FluxMark[] {
  return ['labels', 'annotations'].flatMap(part => {
    const map = at(object.root, ['metadata', part])
    if (map?.type !== 'map') return []
    return [...wanted].flatMap(([key, values]) => {
      const value = stringAt(map, [key])
      return value !== undefined && values.includes(value.toLowerCase())
        ? [{ path: ['metadata', part, key], key, value }]
        : []
    })
  })
}
