import { BailiwickError } from '../../errors.ts'
import type { Origin } from '../../origin.ts'
import type { SortOptions } from '../fields/sort-options.ts'
import type { Entry } from '../model/entry.ts'
import { idsOf, type RawId } from '../replace/resource-ids.ts'
import { FIRST_KINDS, LAST_KINDS } from '../resource/kind-order.ts'
import type { Resource } from '../resource/resource.ts'

/**
 * The objects in the order that the root's `sortOptions` ask for (SortOrderTransformer, 5.8.1); without them as they
 * are. Throws `kustomize-invalid` for an order that there is not.
 */
export function sortObjects(resources: readonly Resource[], options: SortOptions | undefined): readonly Resource[] {
  if (!options) return resources
  const { order, legacy, origin } = options
  if (order?.text !== 'fifo' && order?.text !== 'legacy') {
    invalid('sortOptions.order: unknown. Allowed: fifo or legacy', order?.origin ?? origin)
  }
  if (order.text === 'fifo')
    return legacy ? invalid('sortOptions.legacySortOptions: not allowed with the order fifo', origin) : resources
  const places = placesOf(legacy?.first.map(textOf) ?? FIRST_KINDS, legacy?.last.map(textOf) ?? LAST_KINDS)
  const keyed = resources.map(resource => ({ resource, ...sortKey(idsOf(resource)[0]!, places) }))
  return keyed.sort(compare).map(({ resource }) => resource)
}

const textOf = (entry: Entry): string => entry.text

function placesOf(first: readonly string[], last: readonly string[]): ReadonlyMap<string, number> {
  return new Map([
    ...first.map((kind, index) => [kind, index - first.length] as const),
    ...last.map((kind, index) => [kind, index + 1] as const),
  ])
}

interface Key {
  readonly place: number
  readonly kind: string
  readonly group: string
  readonly gvk: Buffer
  readonly id: Buffer
}

function sortKey({ group, version, kind, namespace, name }: RawId, places: ReadonlyMap<string, number>): Key {
  return {
    place: places.get(kind) ?? 0,
    kind,
    group,
    gvk: Buffer.from(`${group || '~G'}_${version || '~V'}_${kind || '~K'}`),
    id: Buffer.from(`${kind}.${version || '[noVer]'}.${group || '[noGrp]'}|${namespace || '~X'}|${name || '~N'}`),
  }
}

function compare(a: Key, b: Key): number {
  if (a.place !== b.place) return a.place - b.place
  const kinds = Buffer.compare(a.gvk, b.gvk)
  if (kinds === 0) return Buffer.compare(a.id, b.id)
  // so that the Namespaces of Kubernetes come before those of others
  const isCore = a.kind === 'Namespace' && b.kind === 'Namespace' && (a.group === '' || b.group === '')
  return isCore ? -kinds : kinds
}

function invalid(message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', message, { origin })
}
