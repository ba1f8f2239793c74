import { artifactPath } from '../../flux/artifact-path.ts'
import { KUSTOMIZATION } from '../../flux/kinds.ts'
import type { Tree } from '../../git/tree.ts'
import { at, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import type { FluxFile } from './flux-files.ts'
import { isNoFolderOfACluster } from './not-a-cluster.ts'
import { folderOf, isWithin, sourceOf, sourcesOf, type UnnamedRoot } from './sync-roots.ts'

/**
 * The folders that a cluster is assumed to start from, in a repository that says of none: those with Kustomizations of Flux
 * that follow this repository (`isOwn`), or a source that is not in it, and that no other Kustomization leads to. Of
 * folders in each other the outermost.
 */
export function assumedRoots(
  files: readonly FluxFile[],
  tree: Tree,
  isOwn: (source: KubeObject) => boolean,
): UnnamedRoot[] {
  const sources = sourcesOf(files)
  const standing = files.flatMap(({ path: file, objects }) =>
    objects.flatMap(object => {
      const path = pathOf(object)
      if (path === undefined || tree.entry(path)?.type !== 'directory') return []
      const source = sourceOf(object, file, sources)
      return source === undefined || isOwn(source) ? [{ file, path, origin: object.root.origin }] : []
    }),
  )
  const folders = Map.groupBy(standing, ({ file }) => folderOf(file))
  const leads = [...new Set(standing.map(({ path }) => path))]
  const starts = [...folders.keys()].filter(folder => {
    const isLedTo = leads.some(path => isWithin(folder, path) && !folders.get(folder)!.every(one => one.path === path))
    return !isLedTo && !isNoFolderOfACluster(folder)
  })
  return starts
    .filter(folder => !starts.some(other => other !== folder && isWithin(folder, other)))
    .map(path => {
      const { file, origin } = folders.get(path)![0]!
      return { path, how: 'assumed', file, origin }
    })
}

function pathOf(object: KubeObject): string | undefined {
  const { apiVersion, kind } = idOf(object)
  if (`${groupOf(apiVersion)}/${kind}` !== KUSTOMIZATION) return undefined
  const path = stringAt(object.root, ['spec', 'path'])
  const isRemote = at(object.root, ['spec', 'kubeConfig']) !== undefined
  if (path === undefined || isRemote || /[{}$]/.test(path)) return undefined
  return stringAt(object.root, ['spec', 'sourceRef', 'name']) === undefined ? undefined : artifactPath(path)
}
