import type { Tree } from '../../git/tree.ts'
import { isAbsent, mapNode, textNode, withField } from '../../kube/edit-node.ts'
import { at, type MapNode, type Node } from '../../kube/node.ts'
import type { Unseen } from '../../kube/object.ts'
import { findUnseen } from '../../kube/yaml/unseen.ts'
import { keepReadable, type PartReader } from '../../kustomize/fields/keep-readable.ts'
import type { Kustomization } from '../../kustomize/fields/kustomization.ts'
import { readKustomization } from '../../kustomize/fields/read-kustomization.ts'
import { readLeniently } from '../../kustomize/fields/read-leniently.ts'
import type { BuildBudget } from '../../kustomize/model/build-budget.ts'
import type { PatchEntry } from '../../kustomize/model/entry.ts'
import { STRICT, type Tolerance } from '../../kustomize/model/tolerance.ts'
import { findKustomizationFile } from '../../kustomize/paths/find-kustomization.ts'
import { joinPath } from '../../kustomize/paths/resolve-path.ts'
import { HiddenText } from '../../kustomize/pipeline/hidden-text.ts'
import { generateRoot } from './generate-root.ts'
import type { PathState } from './local-components.ts'
import { mergeSpec } from './merge-spec.ts'
import { readRoot } from './read-root.ts'
import { wrongType } from './spec-fields.ts'

/**
 * The kustomization that Flux builds for a directory of an artifact: the file that is there, or one that Flux generates,
 * with what the spec of the Flux Kustomization adds. Throws `flux-invalid` and what reading a kustomization throws.
 */
export function fluxOverlay(
  tree: Tree,
  repository: string,
  directory: string,
  kustomization: MapNode,
  budget: BuildBudget,
  tolerance: Tolerance = STRICT,
): Kustomization {
  const spec = at(kustomization, ['spec'])
  if (!isAbsent(spec) && spec.type !== 'map') wrongType(kustomization, ['spec'], 'an object')
  const file = findKustomizationFile(tree, directory, { repository, file: directory, line: 1, column: 1 })
  const origin = at(kustomization, ['spec', 'path'])?.origin ?? kustomization.origin
  const hidden = new HiddenText(tree, budget)
  const parts = { tolerance, hides: (part: unknown) => hidden.of(directory, part) }
  const root = file
    ? readRoot(tree, repository, file, parts)
    : generateRoot(tree, repository, directory, origin, budget)
  const findComponent = (component: string) => find(tree, directory, component)
  const kept = tolerance.isLenient ? keepSpec(kustomization, parts, findComponent) : kustomization
  const merged = mergeSpec(root, kept, findComponent)
  const path = file ?? [directory, 'kustomization.yaml'].filter(Boolean).join('/')
  const overlay = tolerance.isLenient
    ? readLeniently(path, directory, [merged], tolerance, parts.hides)
    : readKustomization(path, directory, [merged])
  const patches = withSteps(overlay.patches, kept)
  const unseen = file ? unseenIn(tree, repository, file) : []
  return { ...overlay, patches, ...(file ? {} : { generated: true }), ...(unseen.length > 0 ? { unseen } : {}) }
}

/** The patches of the spec stand last. */
function withSteps(patches: readonly PatchEntry[], kustomization: MapNode): PatchEntry[] {
  const list = at(kustomization, ['spec', 'patches'])
  const own = patches.length - (list?.type === 'list' ? list.items.length : 0)
  return patches.map((patch, index): PatchEntry => {
    const { file, line } = patch.origin
    return index < own ? patch : { ...patch, step: { step: 'flux-patch', file, line } }
  })
}

function find(tree: Tree, directory: string, component: string): PathState {
  const parts = joinPath(directory, component)
  if (parts === undefined) return 'outside'
  return tree.entry(parts.join('/')) === undefined ? 'absent' : 'there'
}

/** Of the root file, which was read before the build began. */
function unseenIn(tree: Tree, repository: string, file: string): Unseen[] {
  const place = tree.place?.(file) ?? { repository, path: file }
  const text = Buffer.from(tree.read(file)).toString('utf8')
  return findUnseen(text, (line, column) => ({ repository: place.repository, file: place.path, line, column }))
}

/** Lists of texts; all others that are merged are lists of objects. */
const TEXTS = ['components', 'buildMetadata']

/** A Flux Kustomization without the parts of its spec that cannot be merged into a kustomization. */
function keepSpec(
  kustomization: MapNode,
  parts: Pick<PartReader, 'tolerance' | 'hides'>,
  find: (path: string) => PathState,
): MapNode {
  const spec = at(kustomization, ['spec'])
  if (spec?.type !== 'map') return kustomization
  const { origin } = kustomization
  const empty = mapNode([], origin)
  const read = (only: MapNode) => {
    mergeSpec(empty, withField(kustomization, 'spec', only), find)
  }
  const ignore = at(spec, ['ignoreMissingComponents'])
  const always = mapNode(ignore ? [['ignoreMissingComponents', ignore]] : [], origin)
  const filler = (name: string): Node => (TEXTS.includes(name) ? textNode('.', origin) : empty)
  return withField(kustomization, 'spec', keepReadable(spec, always, { ...parts, read, filler }))
}
