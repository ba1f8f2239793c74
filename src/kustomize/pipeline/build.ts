import type { Tree } from '../../git/tree.ts'
import { canonical } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Kustomization } from '../fields/kustomization.ts'
import { appendHash } from '../generate/hash-name.ts'
import type { Part } from '../model/tolerance.ts'
import { fixReferences } from '../references/name-references.ts'
import { annotationsAsText } from '../resource/annotations.ts'
import { localConfig } from '../resource/local-config.ts'
import { type Resource, toKubeObject } from '../resource/resource.ts'
import { toPlain } from '../resource/round-trip.ts'
import { type Accumulated, Accumulation, type AccumulationOptions } from './accumulate.ts'
import { sortObjects } from './sort-objects.ts'

/** What the program that builds calls itself in the label that `managedByLabel` asks for. */
const KUSTOMIZE = 'kustomize-v5.8.1'

/** What differs between the programs that build with kustomize's library. */
interface BuildOptions extends AccumulationOptions {
  /** How the program names itself in objects, where `managedByLabel` asks for that; a library has no version. */
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
