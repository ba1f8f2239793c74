import { BailiwickError } from '../../errors.ts'
import type { Artifact } from '../../flux/artifact.ts'
import { renderWithHoles } from '../../flux/render-with-holes.ts'
import type { KubeObject } from '../../kube/object.ts'
import { bootstrapComponents, bootstrapSync } from './bootstrap-components.ts'
import { isEmpty } from './layout-roots.ts'
import { overlayTree } from './overlay-tree.ts'

/**
 * What a cluster's overlay would do to the objects of `flux bootstrap`, for a repository that holds only comments in
 * their place (as fluxcd/flux2-multi-tenancy does): those files are filled with the least that bootstrap writes and
 * rendered. Undefined where the files are not there, are not empty, or the overlay needs more than that.
 */
export function probeBootstrap(
  path: string,
  kustomization: KubeObject,
  artifact: Artifact,
): readonly KubeObject[] | undefined {
  const files = new Map<string, string>()
  const contents = { 'gotk-components.yaml': bootstrapComponents(), 'gotk-sync.yaml': bootstrapSync(`./${path}`) }
  for (const [name, content] of Object.entries(contents)) {
    const file = `${path === '' ? '' : `${path}/`}flux-system/${name}`
    if (artifact.tree.entry(file)?.type === 'file' && isEmpty(artifact.tree.read(file))) files.set(file, content)
  }
  if (files.size === 0) return undefined
  try {
    return renderWithHoles({ ...artifact, tree: overlayTree(artifact.tree, files) }, kustomization).objects
  } catch (error) {
    if (error instanceof BailiwickError) return undefined
    throw error
  }
}
