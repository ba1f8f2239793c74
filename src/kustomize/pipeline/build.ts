import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import type { Tree } from '../../git/tree.ts'
import { canonical } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Entry, Part } from '../entry.ts'
import type { SortOptions } from '../fields/build-settings.ts'
import type { Kustomization } from '../fields/kustomization.ts'
import { annotationsAsText, localConfig } from '../resource/load-resources.ts'
import { type Resource, type ResourceId, toKubeObject } from '../resource/resource.ts'
import { FIRST_KINDS, LAST_KINDS } from '../resource/resource-list.ts'
import { toPlain } from '../resource/round-trip.ts'
import { type Accumulated, Accumulation, type AccumulationOptions } from './accumulate.ts'
import { appendHash } from './generate-object.ts'
import { fixReferences } from './name-references.ts'

/** The builder's name in the label of `managedByLabel`. */
const KUSTOMIZE = 'kustomize-v5.8.1'

/** What differs between the programs that build with kustomize's library. */
interface BuildOptions extends AccumulationOptions {
  /** The builder's name in objects, for `managedByLabel`; a library has no version. */
  readonly builder?: string
}

/**
 * What `kustomize build --load-restrictor LoadRestrictionsNone --reorder none` (5.8.1) gives for `directory`, every
 * field with its origin. Throws BailiwickError: with a `rule` for what is forbidden, `kustomize-unsupported` for what
 * this engine does not know, `kustomize-invalid` for what kustomize refuses; never a guess.
 */
export function build(
  tree: Tree,
  repository: string,
  directory: string,
  options: BuildOptions = {},
): readonly KubeObject[] {
  const accumulation = new Accumulation(tree, repository, options)
  return finish(accumulation, accumulation.directory(directory), options.builder ?? KUSTOMIZE)
}

/** The same for a root kustomization that was made or changed in memory, as Flux does. */
export function buildFrom(
  tree: Tree,
  repository: string,
  root: Kustomization,
  options: BuildOptions = {},
): readonly KubeObject[] {
  const accumulation = new Accumulation(tree, repository, options)
  return finish(accumulation, accumulation.root(root), options.builder ?? KUSTOMIZE)
}

function finish(accumulation: Accumulation, accumulated: Accumulated, builder: string): readonly KubeObject[] {
  const { budget, sortOptions, tolerance } = accumulation
  const { config, resources } = accumulated
  const part = (resource: Resource, effect: Part['effect']): Part => ({
    effect,
    hides: () => canonical(resource.root),
    depends: true,
  })
  const hashed = (resource: Resource) => {
    if (resource.needsHash) appendHash(resource)
    return true
  }
  const all = resources.all.filter(resource => tolerance.attempt(part(resource, 'different'), () => hashed(resource)))
  fixReferences(all, config?.nameReference ?? [], budget, tolerance)
  const kept = all.filter(resource => !localConfig(resource.root))
  const { unseen } = accumulation.files
  const order: Part = { effect: 'different', hides: () => accumulation.files.hidden('', sortOptions) }
  const sorted = tolerance.attempt(order, () => sortObjects(kept, sortOptions)) ?? kept
  const finished = sorted.flatMap(resource => {
    const finishOne = () => {
      // kustomize keeps its notes among the annotations of every object, and writes them all anew to take the notes out
      const root = annotationsAsText(accumulation.notes.finish(resource.root, builder))
      const isChanged = budget.spendOnResult(root)
      return toKubeObject(resource, isChanged ? toPlain(root) : root)
    }
    return tolerance.attempt(part(resource, 'missing'), finishOne) ?? []
  })
  const [first, ...others] = finished
  if (!first) return []
  // where parts were taken out, a patch may have been for one of these
  const unmatched = tolerance.isLenient ? [] : accumulation.targets.unmatched()
  const notes = { ...(unseen.length > 0 ? { unseen } : {}), ...(unmatched.length > 0 ? { unmatched } : {}) }
  return [{ ...first, ...notes }, ...others]
}

/**
 * The objects in the order of the root's `sortOptions` (SortOrderTransformer, 5.8.1); without them as they are. Throws
 * `kustomize-invalid` for an unknown order.
 */
function sortObjects(resources: readonly Resource[], options: SortOptions | undefined): readonly Resource[] {
  if (!options) return resources
  const { order, legacy, origin } = options
  if (order?.text !== 'fifo' && order?.text !== 'legacy') {
    invalid('sortOptions.order: unknown. Allowed: fifo or legacy', order?.origin ?? origin)
  }
  if (order.text === 'fifo')
    return legacy ? invalid('sortOptions.legacySortOptions: not allowed with the order fifo', origin) : resources
  const places = placesOf(legacy?.first.map(textOf) ?? FIRST_KINDS, legacy?.last.map(textOf) ?? LAST_KINDS)
  const keyed = resources.map(resource => ({ resource, ...sortKey(resource.writtenIds[0]!, places) }))
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

function sortKey({ group, version, kind, namespace, name }: ResourceId, places: ReadonlyMap<string, number>): Key {
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
