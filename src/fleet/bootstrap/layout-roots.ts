import type { Tree } from '../../git/tree.ts'
import { isNoFolderOfACluster, isNotACluster } from './not-a-cluster.ts'
import type { UnnamedRoot } from './sync-roots.ts'

/** Where `flux bootstrap` puts its own files, below the folder that it follows. */
const BOOTSTRAP = 'flux-system/gotk-sync.yaml'

/** The folders `clusters/<name>`, whether they say how they are followed or not. */
export function layoutRoots(tree: Tree): UnnamedRoot[] {
  return tree
    .list('clusters')
    .filter(({ type, path }) => type === 'directory' && !isNoFolderOfACluster(path))
    .map(({ path }) => ({
      path,
      how: 'layout',
      file: `${path}/${BOOTSTRAP}`,
      ...(isBare(tree, path) ? { bare: true } : {}),
    }))
}

const isBare = (tree: Tree, path: string) =>
  !tree.list(path).some(({ type, name }) => type === 'file' && isManifest(name))

/** Whether a folder with a file of this name may be applied; hidden ones are settings of tools (`.sops.yaml`). */
export const isManifest = (name: string): boolean => /^[^.].*\.ya?ml$|^Kustomization$/.test(name)

/** Folders with a `flux-system/gotk-sync.yaml` of nothing but comments, which bootstrap fills on the cluster. */
export function placeholderRoots(tree: Tree, repository: string): UnnamedRoot[] {
  return foldersWithSync(tree, '').flatMap(path => {
    const file = path === '' ? BOOTSTRAP : `${path}/${BOOTSTRAP}`
    if (isNotACluster(path) || !isEmpty(tree.read(file))) return []
    return [{ path, how: 'sync', origin: { repository, file, line: 1, column: 1 }, file }]
  })
}

function foldersWithSync(tree: Tree, folder: string): string[] {
  const below = tree.list(folder).filter(entry => entry.type === 'directory')
  const here = tree.entry(folder === '' ? BOOTSTRAP : `${folder}/${BOOTSTRAP}`)?.type === 'file' ? [folder] : []
  return [...here, ...below.flatMap(entry => foldersWithSync(tree, entry.path))]
}

/** Whether a file of bootstrap holds only comments. */
export function isEmpty(bytes: Uint8Array): boolean {
  if (bytes.length > 4096) return false
  return new TextDecoder()
    .decode(bytes)
    .split('\n')
    .every(line => /^(#.*|---)?\s*$/.test(line))
}
