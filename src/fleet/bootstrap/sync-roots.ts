import { artifactPath } from '../../flux/artifact-path.ts'
import { KUSTOMIZATION, kindsThat, ROOT_NAMESPACE } from '../../flux/kinds.ts'
import type { Tree } from '../../git/tree.ts'
import { at, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import type { ClusterRoot } from '../model/cluster-root.ts'
import type { FluxFile } from './flux-files.ts'
import { isNotACluster } from './not-a-cluster.ts'

/** A root before it has a name. */
export type UnnamedRoot = Omit<ClusterRoot, 'name'> & {
  /** The file that says so. */
  readonly file: string
  /** The name that is declared for it. */
  readonly declared?: string
}

/** What `flux bootstrap` calls its source and its Kustomization, and their namespace. */

/** Sources that name an address, whose content a Kustomization may take. */
export const SOURCES = kindsThat(row => row.deployable && row.address)

/**
 * The Kustomizations that a cluster starts with, wherever they are: those that `flux bootstrap` writes (its name and that
 * of the namespace are the same, `flux-system` unless told otherwise; the file may hold only what is patched into it), and
 * those that the folder that they apply holds, with or without their source, and that follow this repository, which
 * `isOwn` says.
 */
export function syncRoots(
  files: readonly FluxFile[],
  tree: Tree,
  isOwn: (source: KubeObject) => boolean,
): UnnamedRoot[] {
  const sources = sourcesOf(files)
  return files.flatMap(({ path: file, objects }) =>
    objects.flatMap(object => {
      const path = pathOf(object)
      if (path === undefined || isNotACluster(path) || isNotACluster(folderOf(file))) return []
      const source = sourceOf(object, file, sources)
      const isHere = isWithin(file, path) && tree.entry(path)?.type === 'directory'
      // beside the manifests of an app, which leave it out, it starts nothing: what starts there is set up there
      const isSetUp = source !== undefined && (isWithin(source.root.origin.file, path) || isListed(tree, path, file))
      const follows = isSetUp && isOwn(source)
      const { namespace, name } = idOf(object)
      const isBootstrap = name === ROOT_NAMESPACE && (namespace === ROOT_NAMESPACE || namespace === '')
      if (!(isBootstrap ? isWhole(object) || tree.entry(path)?.type === 'directory' : isHere && follows)) return []
      return [
        {
          path,
          how: 'sync' as const,
          origin: object.root.origin,
          file,
          kustomization: object,
          ...(source ? { source } : {}),
        },
      ]
    }),
  )
}

/** Whether a folder applies a file in it, as far as its kustomization.yaml names what it applies. */
function isListed(tree: Tree, folder: string, file: string): boolean {
  const at = (name: string) => (folder === '' ? name : `${folder}/${name}`)
  const list = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'].find(
    name => tree.entry(at(name))?.type === 'file',
  )
  if (list === undefined) return true
  const [first] = file.slice(folder === '' ? 0 : folder.length + 1).split('/')
  return new TextDecoder().decode(tree.read(at(list))).includes(first!)
}

/** `spec.path` of a Kustomization of Flux; undefined where there is none, or one that only the cluster knows. */
function pathOf(object: KubeObject): string | undefined {
  const { apiVersion, kind } = idOf(object)
  if (`${groupOf(apiVersion)}/${kind}` !== KUSTOMIZATION) return undefined
  if (at(object.root, ['spec', 'kubeConfig'])) return undefined
  const path = stringAt(object.root, ['spec', 'path'])
  return path === undefined || /[{}$]/.test(path) ? undefined : artifactPath(path)
}

const isWhole = (object: KubeObject) => stringAt(object.root, ['spec', 'sourceRef', 'name']) !== undefined

interface Found {
  readonly file: string
  readonly object: KubeObject
}

/** The sources that stand in files, by `<Kind>/<namespace>/<name>`. */
export function sourcesOf(files: readonly FluxFile[]): ReadonlyMap<string, readonly Found[]> {
  const all = files.flatMap(({ path, objects }) => objects.map(object => ({ file: path, object })))
  const sources = all.filter(({ object }) => {
    const { apiVersion, kind } = idOf(object)
    return SOURCES.includes(`${groupOf(apiVersion)}/${kind}`)
  })
  return Map.groupBy(sources, ({ object }) => {
    const { kind, namespace, name } = idOf(object)
    return `${kind}/${namespace}/${name}`
  })
}

/** The source object that it follows: of several of one name the one whose file is nearest. */
export function sourceOf(object: KubeObject, file: string, sources: ReadonlyMap<string, readonly Found[]>) {
  const text = (field: string) => stringAt(object.root, ['spec', 'sourceRef', field])
  const namespace = text('namespace') || idOf(object).namespace
  const found = sources.get(`${text('kind') ?? ''}/${namespace}/${text('name') ?? ''}`) ?? []
  let best: Found | undefined
  for (const one of found) if (!best || shared(one.file, file) > shared(best.file, file)) best = one
  return best?.object
}

function shared(one: string, other: string): number {
  if (one === other) return Number.POSITIVE_INFINITY
  const [a, b] = [one.split('/'), other.split('/')]
  const first = a.findIndex((part, index) => part !== b[index])
  return first < 0 ? a.length : first
}

/** The address that a source names, as it is written. */
export const urlOf = (source: KubeObject): string => stringAt(source.root, ['spec', 'url']) ?? ''

/** The folder of a file; '' at the root of the repository. */
export const folderOf = (file: string): string => file.slice(0, Math.max(0, file.lastIndexOf('/')))

/** Whether a path is in a folder, or is that folder. */
export const isWithin = (path: string, folder: string): boolean =>
  folder === '' || path === folder || path.startsWith(`${folder}/`)
