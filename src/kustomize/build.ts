import type { Tree } from '../git/tree.ts'
import { at, type MapNode } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'
import { type Accumulated, Accumulation } from './accumulate.ts'
import type { BuildBudget } from './build-budget.ts'
import { appendHash } from './generate/hash-name.ts'
import type { Kustomization } from './kustomization.ts'
import { fixReferences } from './references/name-references.ts'
import { annotationsAsText } from './resource/annotations.ts'
import { toKubeObject } from './resource/resource.ts'
import { roundTrip } from './resource/round-trip.ts'

/**
 * What `kustomize build --load-restrictor LoadRestrictionsNone --reorder none` (5.8.1) gives for `directory`, every
 * field with its origin. Throws BailiwickError: with a `rule` for what is forbidden, `kustomize-unsupported` for what
 * this engine does not know, `kustomize-invalid` for what kustomize refuses; never a guess.
 */
export function build(tree: Tree, repository: string, directory: string): readonly KubeObject[] {
  const accumulation = new Accumulation(tree, repository)
  return finish(accumulation.directory(directory), accumulation.budget)
}

/** The same for a root kustomization that was made or changed in memory, as Flux does. */
export function buildFrom(tree: Tree, repository: string, root: Kustomization): readonly KubeObject[] {
  const accumulation = new Accumulation(tree, repository)
  return finish(accumulation.root(root), accumulation.budget)
}

function finish({ resources: { all }, config }: Accumulated, budget: BuildBudget): readonly KubeObject[] {
  for (const resource of all) if (resource.needsHash) appendHash(resource)
  fixReferences(all, config?.nameReference ?? [], budget)
  return all
    .filter(resource => !isLocal(resource.root))
    .map(resource => toKubeObject(resource, finished(resource.root)))
}

function isLocal(root: MapNode): boolean {
  const value = at(root, ['metadata', 'annotations', 'config.kubernetes.io/local-config'])
  return value !== undefined && !(value.type === 'scalar' && value.value === 'false')
}

/** kustomize keeps build notes among the annotations of every object, and writes them all anew to take the notes out. */
function finished(root: MapNode): MapNode {
  return roundTrip(annotationsAsText(root))
}
