import { BailiwickError } from '../errors.ts'
import { at, stringAt } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'
import { build } from '../kustomize/build.ts'
import type { Artifact } from './artifact.ts'

export function renderKustomization(artifact: Artifact, kustomization: KubeObject): readonly KubeObject[] {
  const path = stringAt(kustomization.root, ['spec', 'path']) ?? ''
  for (const field of [
    'targetNamespace',
    'patches',
    'components',
    'images',
    'namePrefix',
    'nameSuffix',
    'postBuild',
    'commonMetadata',
    'ignore',
    'buildMetadata',
  ]) {
    const node = at(kustomization.root, ['spec', field])
    if (node) throw new BailiwickError('flux-unsupported', `spec.${field} is not supported`, { origin: node.origin })
  }
  const directory = path
    .split('/')
    .filter(part => part !== '' && part !== '.')
    .join('/')
  if (directory !== '' && artifact.tree.entry(directory)?.type !== 'directory') {
    throw new BailiwickError('path-not-found', `spec.path ${JSON.stringify(path)} does not exist`, {
      origin: at(kustomization.root, ['spec', 'path'])!.origin,
    })
  }
  return build(artifact.tree, artifact.repository, directory)
}
