import { BailiwickError } from '../../base/errors.ts'
import { FleetSession } from '../../fleet/graph/fleet-session.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import { overlayTree } from '../../fleet/rendering/trees.ts'
import { TENANT_ROLE } from '../../fleet/tenancy/tenancy.ts'
import type { Tree } from '../../git/tree.ts'
import { originAt, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { joinPath } from '../../kustomize/paths.ts'
import { CAPSULE_GROUP, type CapsulePlan, groupOfAccounts, planCapsule, withCapsuleAccount } from './capsule.ts'
import { compareFleets, type Expected, findConflicts } from './compare-fleets.ts'
import { addNamespace, addToList, readKustomization, removeField } from './edit-kustomization.ts'
import { printManifests, tenantRoleManifest } from './manifests.ts'
import { clusterRoleOf, type OnboardRequest, quote, secretOf } from './request.ts'
import { codeOwners } from './template.ts'
import {
  AUTH_FILE,
  baseKustomization,
  directoryOf,
  pathPatch,
  servedVersion,
  tenantFiles,
  type VersionOf,
} from './tenant-files.ts'
import { fleetAt, kustomizationFile, relativePath, type TenantLayout, tenantLayout } from './tenant-layout.ts'

/** One file of an onboarding: its whole new content. */
interface OnboardFile {
  readonly path: string
  readonly content: string
  readonly change: 'created' | 'edited'
}

export interface OnboardPlan {
  /** What was asked for, with the account that the clusters expect. */
  readonly request: OnboardRequest
  /** Sorted by path; empty when the fleet has all of it already. */
  readonly files: readonly OnboardFile[]
  /** What is done besides adding the tenant's own files, in plain text; may name other tenants. */
  readonly summary: readonly string[]
  /** Where the tenant's own files are; several where clusters keep tenants apart. */
  readonly directories: readonly string[]
  /** Addresses that the fleet follows already, as they are written. */
  readonly sources: readonly string[]
  /** Owners of the files by the CODEOWNERS of the fleet, as they are written there. */
  readonly owners: readonly string[]
  /** What its clusters with Capsule get; absent where none of them has it. */
  readonly capsule?: CapsulePlan
}

/**
 * The files that make a request true in a fleet: what the flux CLI would create, in the fleet's own layout. The result is
 * rendered and compared: every other object of every cluster stays as it was. Running it on its own result gives no files.
 * Throws `onboard-input` for a request that may not be, `onboard-layout` for a fleet in which its place is not clear.
 */
export function planOnboarding(asked: OnboardRequest, tree: Tree, fleetUrl: string, branch: string): OnboardPlan {
  const session = new FleetSession()
  const before = fleetAt(tree, fleetUrl, branch, session)
  const wanted = withCapsuleAccount(asked, before)
  const layouts = wanted.clusters.map(cluster => tenantLayout(before, tree, fleetUrl, cluster))
  if (wanted.access ?? wanted.decryption) assertDecrypting(before, layouts)
  const { request, awaited } = withAwaited(wanted, tree, layouts)
  const capsule = planCapsule(before, tree, request)
  const own = tenantFiles(request, tree, before, layouts, capsule)
  const roles = withoutRole(request, before)
  const written = [
    ...own.objects,
    ...own.kustomizations,
    ...patches(request, layouts, servedVersion(before, request.clusters)),
  ]
  const shared = roleFiles(tree, layouts, roles)
  const created = kept(tree, new Map([...written, ...shared]), own)
  const present = [...created].filter(([path, text]) => readText(tree, path) === text).map(([path]) => path)
  const ownFiles = new Set(
    [...created.keys()].every(path => present.includes(path)) ? present : partial(present, request),
  )
  findConflicts(before, request, { url: fleetUrl, branch }, ownFiles)
  refuseOtherContent(tree, created)
  const drafts = new Map([
    ...created,
    ...own.edits,
    ...(capsule?.edits ?? []),
    ...overlayEdits(request, tree, layouts, roles),
  ])
  const expected = expectedIn(request, layouts, roles, own.objects.keys(), created, capsule)
  const { files, notes } = fitting(before, tree, drafts, layouts, expected, { url: fleetUrl, branch, session })
  const sources = [...new Set(before.nodes.map(node => node.source.url))].sort()
  const directories = [...new Set(layouts.map(({ base }) => directoryOf(request, base)))]
  const made = changed(tree, files).filter(({ path }) => !awaited.has(path))
  const owners = codeOwners(
    tree,
    made.map(({ path }) => path),
  )
  return {
    request,
    files: made,
    owners,
    ...(capsule ? { capsule } : {}),
    summary: [...notes, ...own.notes, ...blindSpots(before)],
    directories,
    sources,
  }
}

/** What each cluster has to render of the tenant, and the group in which Capsule has to list its account. */
function expectedIn(
  request: OnboardRequest,
  layouts: readonly TenantLayout[],
  roles: ReadonlySet<string>,
  objects: Iterable<string>,
  created: ReadonlyMap<string, string>,
  capsule: CapsulePlan | undefined,
): Expected {
  const own = [...objects]
  const nodes = layouts.map(({ node, cluster, base }) => {
    const paths = [...own, ...(roles.has(cluster) ? [`${roleFolder(base)}/${ROLE_FILE}`] : [])]
    const manifests = paths.map(path => withStart(created.get(path)!)).join('')
    return [node, { manifests, path: pathOn(request, cluster) ?? './' }] as const
  })
  const listed = { group: CAPSULE_GROUP, kind: 'CapsuleConfiguration', value: groupOfAccounts(request) }
  return { nodes: new Map(nodes), ...(capsule?.isWritten ? { listed } : {}) }
}

/** The folders in which a tenant would be, before anything of it is planned. Throws as `planOnboarding` does for unclear places. */
export function onboardingDirectories(request: OnboardRequest, tree: Tree, fleetUrl: string, branch: string): string[] {
  const fleet = fleetAt(tree, fleetUrl, branch)
  const bases = request.clusters.map(cluster => tenantLayout(fleet, tree, fleetUrl, cluster).base)
  return [...new Set(bases)].map(base => directoryOf(request, base))
}

/**
 * Credentials that people seal themselves: their file is listed from the beginning, so that nothing can be merged before it is
 * there. The plan is compared with the file in place, but does not contain it.
 */
function withAwaited(request: OnboardRequest, tree: Tree, layouts: readonly TenantLayout[]) {
  const none = { request, awaited: new Set<string>() }
  if (request.access === undefined || request.sealed !== undefined) return none
  const paths = layouts.map(({ base }) => `${directoryOf(request, base)}/${AUTH_FILE}`)
  const metadata = { name: secretOf(request)!, namespace: request.namespaces[0]! }
  const sealed = readText(tree, paths[0]!) ?? printManifests([{ apiVersion: 'v1', kind: 'Secret', metadata }])
  return { request: { ...request, sealed }, awaited: new Set(paths) }
}

/** Flux fails for all tenants of a cluster at an encrypted Secret without `spec.decryption`. */
function assertDecrypting(fleet: Fleet, layouts: readonly TenantLayout[]): void {
  for (const { node: key, cluster } of layouts) {
    const node = fleet.nodes.find(one => one.key === key)
    const root = node?.kustomization.root
    if (!root || stringAt(root, ['spec', 'decryption', 'provider']) === 'sops') continue
    throw new BailiwickError(
      'onboard-layout',
      `spec.decryption: the Kustomization ${key} does not decrypt, so ${cluster} could not read sealed credentials`,
      {
        fix: `Run \`bailiwick sops init --cluster ${cluster}\`, or add \`decryption: {provider: sops, secretRef: {name: sops-age}}\` to its spec if the cluster has a key.`,
        origin: originAt(root, ['spec', 'decryption']),
      },
    )
  }
}

/** Nodes that could not be rendered: what they hold was not compared with the names of the new tenant. */
function blindSpots(fleet: Fleet): string[] {
  return fleet.nodes
    .filter(node => node.error && !node.tenant)
    .map(node => `Not compared, because it cannot be rendered: ${node.key} (${node.error!.code}).`)
}

/** Which directory of the tenant's repository a cluster gets; undefined: the root, as in the base. */
export function pathOn(request: OnboardRequest, cluster: string): string | undefined {
  if (request.path !== undefined) return request.path === './' ? undefined : request.path
  return request.tenantDirectories?.includes(cluster) ? `./${cluster}` : undefined
}

/** One more document. */
const withStart = (text: string) => (text.startsWith('---') ? text : `---\n${text}`)

/** Files of a tenant that exists stay as people made them after they came from the template. */
function kept(
  tree: Tree,
  wanted: ReadonlyMap<string, string>,
  own: ReturnType<typeof tenantFiles>,
): Map<string, string> {
  const isThere = [...own.objects].some(([path, text]) => path.endsWith('/rbac.yaml') && readText(tree, path) === text)
  return new Map(
    [...wanted].map(([path, text]) => {
      const stays = isThere && own.fromTemplate.has(path)
      return [path, (stays ? readText(tree, path) : undefined) ?? text] as const
    }),
  )
}

/** The directory of the tenant's repository that each overlay names. */
function patches(request: OnboardRequest, layouts: readonly TenantLayout[], versionOf: VersionOf): [string, string][] {
  return layouts.flatMap(({ cluster, overlay }): [string, string][] => {
    const path = pathOn(request, cluster)
    return path === undefined ? [] : [[`${overlay}/${request.tenant}-patch.yaml`, pathPatch(request, path, versionOf)]]
  })
}

/** Files of the base alone: the tenant is known on one cluster and comes to another. */
function partial(present: readonly string[], { tenant }: OnboardRequest): string[] {
  const base = present.filter(path => path.includes(`/${tenant}/`))
  return base.length >= 3 ? base : []
}

function refuseOtherContent(tree: Tree, created: ReadonlyMap<string, string>): void {
  for (const [path, text] of created) {
    const parts = path.split('/')
    const blocked = parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'))
    const inTheWay = blocked.find(parent => (tree.entry(parent)?.type ?? 'directory') !== 'directory')
    const other = tree.entry(path) !== undefined && readText(tree, path) !== text
    if (!inTheWay && !other) continue
    throw new BailiwickError('onboard-layout', `${quote(inTheWay ?? path)} exists with other content`, {
      fix: 'Choose another name for the tenant, or move that file away first.',
      origin: { repository: '', file: inTheWay ?? path, line: 1, column: 1 },
    })
  }
}

/** The clusters of a request that do not have the role of tenants yet. */
function withoutRole(request: OnboardRequest, { nodes }: Fleet): ReadonlySet<string> {
  const isRole = (object: KubeObject) => idOf(object).kind === 'ClusterRole' && idOf(object).name === TENANT_ROLE
  const have = new Set(nodes.filter(one => !one.tenant && one.objects.some(isRole)).map(({ cluster }) => cluster))
  return new Set(clusterRoleOf(request) === TENANT_ROLE ? request.clusters.filter(one => !have.has(one)) : [])
}

const ROLE_FILE = 'cluster-roles.yaml'
const roleFolder = (base: string) => (base === '' ? 'tenant-role' : `${base}/tenant-role`)

/** The role of tenants, once for all of them, as far as the files are not there. */
function roleFiles(tree: Tree, layouts: readonly TenantLayout[], clusters: ReadonlySet<string>): [string, string][] {
  const files = [
    ['kustomization.yaml', baseKustomization([ROLE_FILE])],
    [ROLE_FILE, tenantRoleManifest()],
  ] as const
  return layouts
    .filter(({ cluster }) => clusters.has(cluster))
    .flatMap(({ base }) => files.map(([name, text]): [string, string] => [`${roleFolder(base)}/${name}`, text]))
    .map(([path, text]) => [path, readText(tree, path) ?? text])
}

function overlayEdits(
  request: OnboardRequest,
  tree: Tree,
  layouts: readonly TenantLayout[],
  roles: ReadonlySet<string>,
): Map<string, string> {
  const edits = new Map<string, string>()
  for (const { file, overlay, base, cluster } of layouts) {
    let text = edits.get(file) ?? readText(tree, file)!
    const data = readKustomization({ path: file, text })
    const resources = Array.isArray(data.resources) ? data.resources : []
    for (const folder of [...(roles.has(cluster) ? [roleFolder(base)] : []), directoryOf(request, base)]) {
      const entry = relativePath(overlay, folder)
      if (resources.some(item => item === entry || item === `./${entry}` || item === `${entry}/`)) continue
      text = addToList({ path: file, text }, 'resources', entry)
    }
    const patch = `${request.tenant}-patch.yaml`
    const patches: readonly unknown[] = Array.isArray(data.patches) ? data.patches : []
    const named = patches.some(item => (item as { path?: unknown } | null)?.path === patch)
    if (pathOn(request, cluster) !== undefined && !named) {
      text = addToList({ path: file, text }, 'patches', { path: patch })
    }
    edits.set(file, text)
  }
  return edits
}

/** The first way of writing it under which nothing else changes: as it is, without the overlay's namespace, with it moved down. */
function fitting(
  before: Fleet,
  tree: Tree,
  drafts: ReadonlyMap<string, string>,
  layouts: readonly TenantLayout[],
  expected: Expected,
  home: { readonly url: string; readonly branch: string; readonly session: FleetSession },
): { files: ReadonlyMap<string, string>; notes: readonly string[] } {
  const problems: string[] = []
  for (const move of namespaceMoves(tree, drafts, layouts)) {
    const after = fleetAt(overlayTree(tree, move.files), home.url, home.branch, home.session)
    const problem = compareFleets(before, after, expected)
    if (problem === undefined) return { files: move.files, notes: move.notes }
    problems.push(`${move.name}: ${problem}`)
  }
  throw cannotFit(problems, layouts)
}

function cannotFit(problems: readonly string[], layouts: readonly TenantLayout[]): BailiwickError {
  const { file } = layouts[0]!
  return new BailiwickError(
    'onboard-layout',
    `a tenant cannot be added to this layout without changing existing objects (${problems.join('; ')})`,
    {
      fix: `Remove from ${layouts.map(layout => layout.file).join(', ')} what changes every tenant (namespace, name prefix, patches without a target), then run the command again.`,
      origin: { repository: '', file, line: 1, column: 1 },
    },
  )
}

function changed(tree: Tree, files: ReadonlyMap<string, string>): OnboardFile[] {
  return [...files]
    .filter(([path, content]) => readText(tree, path) !== content)
    .map(([path, content]): OnboardFile => ({ path, content, change: tree.entry(path) ? 'edited' : 'created' }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

function readText(tree: Tree, path: string): string | undefined {
  if (tree.entry(path)?.type !== 'file') return undefined
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(tree.read(path))
}

/** One way to write the files of an onboarding. */
interface NamespaceMove {
  readonly name: string
  readonly files: ReadonlyMap<string, string>
  readonly notes: readonly string[]
}

/**
 * An overlay with a `namespace` moves every tenant into it, so it holds for one tenant only. The ways to write a second one,
 * gentlest first: leave it, take it out of the overlay, move it down into the bases that the overlay lists. Which of them
 * keeps everything as it was is for the caller to find out by rendering.
 */
function* namespaceMoves(
  tree: Tree,
  drafts: ReadonlyMap<string, string>,
  layouts: readonly TenantLayout[],
): Generator<NamespaceMove> {
  yield { name: 'as it is', files: drafts, notes: [] }
  const fields = layouts.flatMap(({ file, overlay }) => {
    const { namespace } = readKustomization({ path: file, text: drafts.get(file)! })
    return typeof namespace === 'string' && namespace !== '' ? [{ file, overlay, namespace }] : []
  })
  if (fields.length === 0) return
  const without = new Map(drafts)
  const notes: string[] = []
  for (const { file, namespace } of fields) {
    without.set(file, removeField({ path: file, text: without.get(file)! }, 'namespace'))
    notes.push(`Removed "namespace: ${namespace}" from ${file}: it would move every tenant into that namespace.`)
  }
  yield { name: 'without the namespace of the overlay', files: without, notes }
  const down = new Map(without)
  const moved: string[] = []
  const now = overlayTree(tree, down)
  for (const { file, overlay, namespace } of fields) {
    for (const base of listedBases(file, overlay, tree)) {
      const target = kustomizationFile(now, base)
      if (!target) continue
      const text = down.get(target) ?? new TextDecoder().decode(tree.read(target))
      const edited = readKustomization({ path: target, text }).namespace
      const bare = edited === undefined ? text : removeField({ path: target, text }, 'namespace')
      down.set(target, addNamespace({ path: target, text: bare }, namespace))
      moved.push(`Moved "namespace: ${namespace}" from ${file} down to ${target}.`)
    }
  }
  if (moved.length > 0) yield { name: 'with the namespace moved down', files: down, notes: [...new Set(moved)] }
}

/** Directories that the overlay listed before the new tenant came. */
function listedBases(file: string, overlay: string, tree: Tree): string[] {
  const data = readKustomization({ path: file, text: new TextDecoder().decode(tree.read(file)) })
  const entries: readonly unknown[] = Array.isArray(data.resources) ? data.resources : []
  return entries.flatMap(entry => {
    const path = typeof entry === 'string' ? joinPath(overlay, entry)?.join('/') : undefined
    return path !== undefined && tree.entry(path)?.type === 'directory' ? [path] : []
  })
}
