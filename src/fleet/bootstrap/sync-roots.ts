import { asUtf8 } from '../../base/encoding.ts'
import { BailiwickError, unlessRefused } from '../../base/errors.ts'
import { oncePer } from '../../base/once-per.ts'
import { type Artifact, artifactPath } from '../../flux/artifact.ts'
import { isKustomizationKind } from '../../flux/references.ts'
import { renderWithHoles } from '../../flux/render-with-holes.ts'
import { readUnlessLarge, type Tree, type TreeEntry } from '../../git/tree.ts'
import {
  apiVersionOf,
  FLUX_INSTANCE,
  HELM_RELEASE,
  KUSTOMIZATION,
  kindsThat,
  ROOT_NAMESPACE,
  sourceNamed,
} from '../../kube/flux-kinds.ts'
import { glance } from '../../kube/glance.ts'
import { at, type MapNode, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import type { ClusterRoot } from '../model/fleet.ts'
import { nodeOf } from '../model/kustomization-spec.ts'
import { overlayTree } from '../rendering/trees.ts'
import { bootstrapComponents, bootstrapSync, installedSync } from './flux-instance.ts'

/** A root before it has a name. */
export type UnnamedRoot = Omit<ClusterRoot, 'name'> & {
  /** The file that says so. */
  readonly file: string
  /** The name that is declared for it. */
  readonly declared?: string
}

/** What `flux bootstrap` calls its source and its Kustomization, and their namespace. */

/** Sources that name an address, whose content a Kustomization may take. */
const SOURCES = kindsThat(row => row.deployable && row.address)

/**
 * The Kustomizations that a cluster starts with, wherever they are: those that `flux bootstrap` writes (its name and that
 * of the namespace are the same, `flux-system` by default; the file may hold only what is patched into it), and
 * those that the folder that they apply holds, with or without their source, and that follow this repository, which
 * `isOwn` says.
 */
export function syncRoots(
  files: readonly FluxFile[],
  tree: Tree,
  isOwn: (source: KubeObject) => boolean,
): UnnamedRoot[] {
  const sources = sourcesOf(files)
  return files.flatMap(one =>
    standingIn(one).flatMap(({ object, path }) => {
      const { path: file } = one
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

/** The Kustomizations of a file that may start a cluster, with their paths. */
const standingIn = oncePer(({ path: file, objects }: FluxFile) =>
  objects.flatMap(object => {
    const path = pathOf(object)
    return path === undefined || isNotACluster(path) || isNotACluster(folderOf(file)) ? [] : [{ object, path }]
  }),
)

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
  return Map.groupBy(files.flatMap(sourcesIn), ({ object }) => {
    const { kind, namespace, name } = idOf(object)
    return `${kind}/${namespace}/${name}`
  })
}

const sourcesIn = oncePer(({ path: file, objects }: FluxFile): readonly Found[] => {
  const sources = objects.filter(object => {
    const { apiVersion, kind } = idOf(object)
    return SOURCES.includes(`${groupOf(apiVersion)}/${kind}`)
  })
  return sources.map(object => ({ file, object }))
})

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

/**
 * What the Flux Operator starts clusters with: the `sync` of each FluxInstance, as an object or as values of its chart
 * (`instance.sync` of a HelmRelease or of a file of values).
 */
export function instanceRoots(files: readonly FluxFile[]): UnnamedRoot[] {
  const making = files.filter(makesInstance)
  const targets = making.length === 0 ? [] : targetsOf(files)
  return making.flatMap(({ path: file, objects }) =>
    objects.flatMap(object => {
      const instance = instanceOf(object, targets.find(({ folder }) => isWithin(file, folder))?.namespace)
      const sync = at(instance?.root, ['spec', 'sync'])
      const path = stringAt(sync, ['path'])
      const isWhole = SOURCES.includes(sourceNamed(stringAt(sync, ['kind']))) && stringAt(sync, ['url']) !== undefined
      if (!instance || !sync || !isWhole || path === undefined || /[{}$]/.test(path)) return []
      const folder = artifactPath(path)
      if (isNotACluster(folder)) return []
      return [
        { path: folder, how: 'flux-instance' as const, origin: sync.origin, file, instance, ...startOf(instance) },
      ]
    }),
  )
}

const makesInstance = oncePer(
  ({ path, objects }: FluxFile) =>
    !isNotACluster(folderOf(path)) && objects.some(object => instanceOf(object, undefined) !== undefined),
)

interface Target {
  readonly folder: string
  readonly namespace: string
}

/** The namespaces into which Kustomizations of Flux put what is in a folder, the deepest folder first. */
function targetsOf(files: readonly FluxFile[]): Target[] {
  const targets = files.flatMap(({ objects }) =>
    objects.flatMap(({ root }) => {
      const [path, namespace] = [stringAt(root, ['spec', 'path']), stringAt(root, ['spec', 'targetNamespace'])]
      const isKustomization = isKustomizationKind(
        groupOf(stringAt(root, ['apiVersion']) ?? ''),
        stringAt(root, ['kind']) ?? '',
      )
      if (!isKustomization || path === undefined || !namespace || /[{}$]/.test(path + namespace)) return []
      return [{ folder: artifactPath(path), namespace }]
    }),
  )
  return targets.sort((a, b) => b.folder.length - a.folder.length)
}

/** The FluxInstance that an object of a file is or makes; `placed`: the namespace that it is applied to. */
function instanceOf(object: KubeObject, placed: string | undefined): KubeObject | undefined {
  const { apiVersion, kind, namespace } = idOf(object)
  const group = groupOf(apiVersion)
  if (`${group}/${kind}` === FLUX_INSTANCE) return object
  if (`${group}/${kind}` === HELM_RELEASE) {
    const target = stringAt(object.root, ['spec', 'targetNamespace']) || placed || namespace
    return ofChart(object, at(object.root, ['spec', 'values', 'instance']), target)
  }
  return apiVersion === '' && kind === '' ? ofChart(object, at(object.root, ['instance']), '') : undefined
}

/** What the chart flux-instance makes of its values: the same fields under the same names. */
function ofChart(
  { root, trail }: KubeObject,
  values: ReturnType<typeof at>,
  namespace: string,
): KubeObject | undefined {
  if (values?.type !== 'map') return undefined
  const head = nodeOf(
    {
      apiVersion: apiVersionOf(FLUX_INSTANCE),
      kind: 'FluxInstance',
      metadata: { name: 'flux', namespace: namespace || ROOT_NAMESPACE },
    },
    root.origin,
  ) as MapNode
  return {
    root: { ...head, fields: new Map([...head.fields, ['spec', { key: values.origin, value: values }]]) },
    trail,
  }
}

/** Where its patches are wrong, the root starts as if there were none, and what renders them gets the error. */
function startOf(instance: KubeObject): ReturnType<typeof installedSync> {
  return unlessRefused({}, () => installedSync(instance))
}

/** Where `flux bootstrap` puts its own files, below the folder that it follows. */
const BOOTSTRAP = 'flux-system/gotk-sync.yaml'

/** The folders `clusters/<name>`, whether they say how they are followed or not. */
export function layoutRoots(tree: Tree): UnnamedRoot[] {
  // where Flux follows `clusters` itself, its own files are there
  const own = tree.entry(`clusters/${BOOTSTRAP}`) ? 'clusters/flux-system' : undefined
  return tree
    .list('clusters')
    .filter(({ type, path }) => type === 'directory' && path !== own && !isNoFolderOfACluster(path))
    .map(({ path }) => ({
      path,
      how: 'layout',
      file: `${path}/${BOOTSTRAP}`,
      ...(isBare(tree, path) ? { bare: true } : {}),
    }))
}

const ARGO = [/^\s*apiVersion:\s*["']?argoproj\.io\//m, /^\s*kind:\s*["']?(?:Application|ApplicationSet|AppProject)\b/m]

/** Whether a repository, which has no object of Flux, is one of Argo CD: its folders `clusters/<name>` are not of Flux. */
export function isOfArgo(tree: Tree, folder = ''): boolean {
  return tree.list(folder).some(({ type, name, path }) => {
    if (type === 'directory') return isOfArgo(tree, path)
    const bytes = type === 'file' && isYaml(name) ? readUnlessLarge(tree, path) : undefined
    const text = bytes ? new TextDecoder().decode(bytes) : ''
    return ARGO.every(mark => mark.test(text))
  })
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
function isEmpty(bytes: Uint8Array): boolean {
  if (bytes.length > 4096) return false
  return new TextDecoder()
    .decode(asUtf8(bytes))
    .split('\n')
    .every(line => /^(#.*|---)?\s*$/.test(line))
}

/** A YAML file with objects of Flux or of its operator, as it is written. */
export interface FluxFile {
  readonly path: string
  readonly objects: readonly KubeObject[]
}

/** Files with objects of Flux that are looked through for roots of clusters. */
const MAX_FLUX_FILES = 20_000
/** Folders whose files are remembered, of all repositories. */
const MAX_FOLDERS = 50_000

/** By the id of a folder, which stands for its content, and by where it is: origins name the place. */
const remembered = new Map<string, readonly FluxFile[]>()

/**
 * The files of a repository with objects of Flux, in the order of their paths. A file that no YAML reader accepts is left
 * out: who builds it gets the error. Throws `graph-limits` for more files than a fleet has.
 */
export function fluxFiles(tree: Tree, repository: string): readonly FluxFile[] {
  return filesBelow(tree, repository, tree.entry('') ?? { name: '', path: '', type: 'directory', id: tree.id })
}

function filesBelow(tree: Tree, repository: string, { path, id }: TreeEntry): readonly FluxFile[] {
  const key = `${id} ${repository} ${path}`
  const known = remembered.get(key)
  if (known) return known
  const found: FluxFile[] = []
  for (const entry of tree.list(path)) {
    if (entry.type === 'directory') for (const file of filesBelow(tree, repository, entry)) found.push(file)
    if (entry.type === 'file' && isYaml(entry.name)) found.push(...read(tree, repository, entry))
    if (found.length > MAX_FLUX_FILES) throw tooMany(repository, path)
  }
  if (remembered.size >= MAX_FOLDERS) remembered.clear()
  if (id !== '') remembered.set(key, found)
  return found
}

const isYaml = (name: string) => /\.ya?ml$/i.test(name)

function read(tree: Tree, repository: string, entry: TreeEntry): FluxFile[] {
  const { path } = entry
  if (!glance(tree, entry)?.root) return []
  return unlessRefused([], () => {
    const documents = parseDocuments({ repository, path }, tree.read(path))
    return [{ path, objects: documents.flatMap(root => (root.type === 'map' ? [{ root, trail: [] }] : [])) }]
  })
}

function tooMany(repository: string, path: string): BailiwickError {
  const message = `more than ${MAX_FLUX_FILES} files contain Flux objects, so Bailiwick cannot search for clusters`
  const origin = { repository, file: path, line: 1, column: 1 }
  return new BailiwickError('graph-limits', message, { origin, fix: 'Move generated manifests to another repository.' })
}

/** Folders of what is copied, tried or explained, and never applied where it lies. */
const ASIDE =
  /^(?:docs?|examples?|samples?|templates?|skeletons?|testdata|fixtures|cookiecutter.*|archived?|deprecated)$/i
const TESTS = /^(?:tests?|e2e|hack)$/i
const PARTS = /^(?:_.*|\..*)$/
const BASE = /(?:^|\/)bases?$/i

/** The same of a folder that nothing says anything of: one called `base` is a part of others then. */
export const isNoFolderOfACluster = (path: string): boolean => BASE.test(path) || isNotACluster(path)

/**
 * Whether nothing at a path is what a cluster starts from: hidden folders and those with an underscore (`_profiles`),
 * templates, documentation, examples and tests. A folder `test` below `clusters` is a cluster like any other.
 */
function isNotACluster(path: string): boolean {
  const parts = path.split('/').filter(part => part !== '')
  const clusters = parts.indexOf('clusters')
  return parts.some((part, index) => {
    if (/[{}<>$]/.test(part) || PARTS.test(part)) return true
    if (clusters >= 0 && index > clusters) return false
    return ASIDE.test(part) || (index === 0 && TESTS.test(part)) || (TESTS.test(part) && clusters > index)
  })
}

/**
 * What a cluster's overlay would do to the objects of `flux bootstrap`, for a repository that holds only comments in
 * their place (as fluxcd/flux2-multi-tenancy does): those files are filled with the least that bootstrap writes and
 * rendered. Undefined where the files are not there, are not empty, or the overlay needs more than that.
 */
export function probeBootstrap(
  path: string,
  kustomization: KubeObject,
  artifact: Artifact,
  render?: Parameters<typeof renderWithHoles>[3],
): readonly KubeObject[] | undefined {
  const files = new Map<string, string>()
  const contents = { 'gotk-components.yaml': bootstrapComponents(), 'gotk-sync.yaml': bootstrapSync(`./${path}`) }
  for (const [name, content] of Object.entries(contents)) {
    const file = `${path === '' ? '' : `${path}/`}flux-system/${name}`
    if (artifact.tree.entry(file)?.type === 'file' && isEmpty(artifact.tree.read(file))) files.set(file, content)
  }
  if (files.size === 0) return undefined
  return unlessRefused(
    undefined,
    () => renderWithHoles({ ...artifact, tree: overlayTree(artifact.tree, files) }, kustomization, {}, render).objects,
  )
}
