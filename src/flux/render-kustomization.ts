import { BailiwickError } from '../errors.ts'
import type { Tree } from '../git/tree.ts'
import { isAbsent, isEmpty } from '../kube/edit-node.ts'
import { at, type MapNode, type Node } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'
import { buildFrom } from '../kustomize/build.ts'
import type { Entry, Kustomization, PatchEntry } from '../kustomize/kustomization.ts'
import { findKustomizationFile } from '../kustomize/read/find-kustomization.ts'
import { readPatch } from '../kustomize/read/read-kustomization.ts'
import type { Artifact } from './artifact.ts'
import { artifactPath } from './artifact-path.ts'
import { generateKustomization } from './generate-kustomization.ts'
import { normalise } from './normalise/normalise.ts'
import { packTree } from './pack-tree.ts'
import { readObjects } from './read-objects.ts'
import { readRootKustomization } from './read-root.ts'

/** Fields that change what is rendered and that we do not know yet. */
const UNSUPPORTED = (
  'commonMetadata components images namePrefix nameSuffix postBuild ignore buildMetadata patchesStrategicMerge ' +
  'patchesJson6902'
).split(' ')

/**
 * The objects that kustomize-controller would apply for a Flux Kustomization, before decryption: the artifact packed,
 * `spec.path` looked up in it, a kustomization.yaml read or generated, `spec.patches` and `spec.targetNamespace` put on
 * top, the result normalised. Throws `path-not-found`, `flux-unsupported`, `flux-invalid` and what a build throws.
 */
export function renderKustomization(artifact: Artifact, kustomization: KubeObject): readonly KubeObject[] {
  const { root } = kustomization
  refuseUnsupported(root)
  const tree = packTree(artifact.tree, artifact.ignore)
  const directory = directoryOf(tree, root)
  const overlay = overlayAt(tree, artifact.repository, directory, root)
  const namespace = targetNamespace(root)
  const changed: Kustomization = {
    ...overlay,
    ...(namespace ? { namespace } : {}),
    patches: [...overlay.patches, ...patchesOf(root)],
  }
  const built = buildFrom(tree, artifact.repository, changed)
  return normalise(readObjects(built))
}

function refuseUnsupported(root: MapNode): void {
  for (const field of UNSUPPORTED) {
    const node = at(root, ['spec', field])
    if (isEmpty(node) || (node?.type === 'scalar' && node.value === '')) continue
    const origin = keyOrigin(root, field)
    const message = `spec.${field} of a Flux Kustomization is not supported`
    throw new BailiwickError('flux-unsupported', message, { origin, fix: 'Say the same in a kustomization.yaml.' })
  }
}

function keyOrigin(root: MapNode, field: string) {
  const spec = at(root, ['spec'])
  return spec?.type === 'map' ? spec.fields.get(field)?.key : undefined
}

function directoryOf(tree: Tree, root: MapNode): string {
  const node = at(root, ['spec', 'path'])
  const path = text(node, 'spec.path') ?? ''
  const directory = artifactPath(path)
  if (tree.entry(directory)?.type === 'directory') return directory
  throw new BailiwickError('path-not-found', `spec.path ${JSON.stringify(path)} is no directory of the source`, {
    origin: node?.origin ?? root.origin,
    fix: 'Correct the path, or do not ignore the directory.',
  })
}

function overlayAt(tree: Tree, repository: string, directory: string, root: MapNode): Kustomization {
  const origin = { repository, file: directory, line: 1, column: 1 }
  const file = findKustomizationFile(tree, directory, origin)
  return file
    ? readRootKustomization(tree, repository, file, directory)
    : generateKustomization(tree, repository, directory, at(root, ['spec', 'path'])?.origin ?? root.origin)
}

function targetNamespace(root: MapNode): Entry | undefined {
  const node = at(root, ['spec', 'targetNamespace'])
  const value = text(node, 'spec.targetNamespace')
  if (value === undefined || !node) return undefined
  const { origin } = node
  const step = { step: 'flux-target-namespace', file: origin.file, line: origin.line } as const
  return { text: value, origin: { ...origin, via: [...(origin.via ?? []), step] } }
}

function patchesOf(root: MapNode): PatchEntry[] {
  const node = at(root, ['spec', 'patches'])
  if (isAbsent(node)) return []
  if (node.type !== 'list') throw new BailiwickError('flux-invalid', 'spec.patches is no list', { origin: node.origin })
  return node.items.map(item => {
    const patch = readPatch(item, item.origin.file, 'flux-patch')
    if (patch.patch && !patch.allowKindChange && !patch.allowNameChange) return patch
    const message = 'a patch of a Flux Kustomization has patch and target only'
    throw new BailiwickError('flux-unsupported', message, { origin: item.origin })
  })
}

function text(node: Node | undefined, field: string): string | undefined {
  if (isAbsent(node)) return undefined
  if (node.type === 'scalar' && typeof node.value === 'string') return node.value
  throw new BailiwickError('flux-invalid', `${field} is no text`, { origin: node.origin })
}
