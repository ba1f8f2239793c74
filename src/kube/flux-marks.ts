import { at, type Path, stringAt } from './node.ts'
import type { KubeObject } from './object.ts'

/** Labels and annotations by which an object controls how Flux treats it, with values in lower case. */
export type FluxMarks = ReadonlyMap<string, readonly string[]>

/** With these Flux does not correct an object that is there, so the cluster may have another one than git. */
export const NOT_CORRECTED: FluxMarks = new Map([
  ['kustomize.toolkit.fluxcd.io/ssa', ['ignore', 'ifnotpresent']],
  ['kustomize.toolkit.fluxcd.io/reconcile', ['disabled']],
])

interface FluxMark {
  readonly path: Path
  readonly key: string
  readonly value: string
}

/**
 * An object's marks among `wanted` (values by key, lower case). Flux reads labels like annotations, and ignores case
 * (fluxcd/pkg ssa, AnyInMetadata).
 */
export function fluxMarks(object: KubeObject, wanted: FluxMarks): FluxMark[] {
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
