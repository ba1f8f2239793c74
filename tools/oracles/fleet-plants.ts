import { BailiwickError } from '../../src/base/errors.ts'
import { type Fleet, type FleetNode, isComplete, type Tenant } from '../../src/fleet/model/fleet.ts'
import { refKey } from '../../src/fleet/model/source-ref.ts'
import { standingKustomizations } from '../../src/fleet/rendering/not-reached.ts'
import { artifactPath } from '../../src/flux/artifact.ts'
import { isFatal } from '../../src/flux/render-with-holes.ts'
import type { Tree } from '../../src/git/tree.ts'
import { idOf, type KubeObject, type ObjectId } from '../../src/kube/object.ts'
import { readBinding } from '../../src/kube/rbac/binding.ts'
import { KUSTOMIZATION_FILES } from '../../src/kustomize/paths.ts'
import type { Verdict } from '../../src/rules/model/finding.ts'
import { textAt } from '../../src/tenants/offboard/edited-tree.ts'
import { addToList } from '../../src/tenants/onboard/edit-kustomization.ts'
import type { OpenFleet, OpenRepository } from './fleet-replay.ts'
import { counted, isNew } from './fleet-table.ts'
import { ATTACKS, type Beneficiary, PLANTED, PLANTED_APP, type Target } from './planted-attacks.ts'

/**
 * Who applies what is in a folder. `unseen`: a Kustomization declares it that is not visible or not complete. `loose`: nothing
 * that is visible reads it, but something of the platform is not visible and may. `unread`: nothing reads it.
 */
type Area = 'tenant' | 'platform' | 'unseen' | 'loose' | 'unread'

/** A plant and what came of it. */
export interface Plant {
  readonly repository: string
  readonly area: Area
  readonly folder: string
  readonly attack: string
  /** It passes, and no person is asked. */
  readonly isGreen: boolean
  /** It would be a mistake to let it pass. */
  readonly counts: boolean
  /** New findings that do not block. */
  readonly warnings: readonly string[]
}

/**
 * Plants each attack in folders of a fleet, one at a time, as a pull request. `most` folders of each sort are tried, spread
 * over all of them: those that nodes of tenants and of the platform render, those that Kustomizations declare which are not
 * visible or not complete, and others with a kustomization.yaml. What renders the plant afterwards decides whose area it is.
 * Every attack counts but those on what is `unread`, and those of the platform in its own area that reach no tenant.
 */
export async function plantAttacks(name: string, { fleet, repositories }: OpenFleet, most: number): Promise<Plant[]> {
  const plants: Plant[] = []
  for (const [index, one] of repositories.entries()) {
    const repository = index === 0 ? name : `${name}, ${one.url}#${one.branch}`
    plants.push(...(await plantIn(repository, fleet, one, most)))
  }
  return plants
}

async function plantIn(repository: string, fleet: Fleet, open: OpenRepository, most: number): Promise<Plant[]> {
  const { tree, url, branch } = open
  const nodes = fleet.nodes.filter(one => isOwn(one, url, branch))
  const rendered = (ofTenant: boolean) =>
    foldersOf(nodes.filter(one => isComplete(one) && (one.tenant !== undefined) === ofTenant))
  const declared = declaredUnseen(fleet, tree, nodes)
  const known = new Set([...rendered(true), ...rendered(false), ...declared])
  const others = [...overlaysIn(tree)].filter(folder => !known.has(folder))
  const folders = [rendered(true), rendered(false), [...declared], others].flatMap(some => spread(some, most))
  const plants: Plant[] = []
  for (const folder of new Set(folders)) {
    if (tree.entry(folder)?.type !== 'directory') continue
    const here = nodes.filter(({ path }) => artifactPath(path) === folder)
    const by = beneficiaryOf(fleet, here)
    const target = targetOf(fleet, here)
    for (const attack of ATTACKS) {
      const text = attack.manifest(by, url, branch)
      const edits = editsOf(tree, folder, text)
      if (edits === undefined) continue
      const { fleet: after, verdict } = await open.change(edits)
      const rendering = after.nodes.filter(node => plantedIn(node).length > 0)
      const area = areaOf(rendering, fleet, declared.has(folder))
      const isMeant = area === 'platform' ? attack.countsForPlatform(target) : area !== 'unread'
      const counts = isMeant && !isMoved(rendering, text + PLANTED_APP[1])
      const warnings = [...counted(verdict.warnings.filter(isNew).map(({ rule }) => rule)).keys()]
      plants.push({ repository, area, folder, attack: attack.name, isGreen: isGreen(verdict), counts, warnings })
    }
  }
  return plants
}

/** Every false green of a repository. */
export function printGreens(plants: readonly Plant[]): void {
  for (const { repository, area, folder, attack, warnings } of plants.filter(one => one.isGreen && one.counts)) {
    const noted = warnings.length === 0 ? '' : ` (warnings: ${warnings.join(', ')})`
    console.log(`  green ${repository} ${area} ${folder || '.'} ${attack}${noted}`)
  }
}

/** What was planted and what passed, by area. */
export function printPlantTable(plants: readonly Plant[]): void {
  console.log('\n| area | planted | counted | false greens | by attack |\n|---|---|---|---|---|')
  for (const [area, all] of Map.groupBy(plants, one => one.area)) {
    const greens = all.filter(one => one.isGreen && one.counts)
    const attacks = [...counted(greens.map(one => one.attack))].map(([name, count]) => `${count} ${name}`)
    const row = [area, all.length, all.filter(one => one.counts).length, greens.length, attacks.join(', ')]
    console.log(`| ${row.join(' | ')} |`)
  }
}

const isGreen = ({ result, requiredApprovals, errors }: Verdict) =>
  result === 'pass' && requiredApprovals.length === 0 && !errors.some(isNew)

const isOwn = ({ source }: FleetNode, url: string, branch: string) =>
  source.url === '' || (source.url === url && refKey(source.ref) === refKey({ branch }))

const foldersOf = (nodes: readonly FleetNode[]): string[] => [...new Set(nodes.map(({ path }) => artifactPath(path)))]

/** Folders of nodes that are not complete, and of Kustomizations that no cluster is known to reach. */
function declaredUnseen(fleet: Fleet, tree: Tree, nodes: readonly FleetNode[]): ReadonlySet<string> {
  const missing = new Set(fleet.notReached.map(({ origin }) => `${origin.file}:${origin.line}`))
  const paths = standingKustomizations(tree).all.flatMap(({ file, line, path }) =>
    path !== '' && missing.has(`${file}:${line}`) ? [artifactPath(path)] : [],
  )
  return new Set([...foldersOf(nodes.filter(one => !isComplete(one))), ...paths])
}

function* overlaysIn(tree: Tree, folder = ''): Generator<string> {
  const entries = tree.list(folder)
  if (entries.some(({ name }) => (KUSTOMIZATION_FILES as readonly string[]).includes(name))) yield folder
  for (const { type, path } of entries) if (type === 'directory' && !path.startsWith('.')) yield* overlaysIn(tree, path)
}

/** So many of a list, from its whole length. */
function spread(list: readonly string[], most: number): string[] {
  const step = Math.max(1, list.length / most)
  return Array.from({ length: Math.min(most, list.length) }, (_, index) => list[Math.floor(index * step)]!)
}

/** A cluster without tenants has nothing that the platform could give them. */
function targetOf({ clusters, tenants }: Fleet, here: readonly FleetNode[]): Target {
  const isHere = (name: string) => here.some(({ cluster }) => cluster === name)
  const lockdowns = clusters.filter(({ name }) => isHere(name)).map(({ lockdown }) => lockdown)
  return {
    hasTenants: tenants.some(tenant => tenant.clusters.some(isHere)),
    hasDefaultAccount: lockdowns.every(one => one.defaultServiceAccount !== undefined),
    hasLockdown: lockdowns.some(one => one.noCrossNamespaceRefs || one.defaultServiceAccount !== undefined),
  }
}

/** The tenant whose folder it is, the first one of the folder's cluster, or the first of the fleet. */
function beneficiaryOf({ clusters, tenants }: Fleet, here: readonly FleetNode[]): Beneficiary {
  const node = here.find(one => one.tenant !== undefined)
  const isHere = ({ clusters }: Tenant) => here.some(({ cluster }) => clusters.includes(cluster))
  const tenant = tenants.find(({ name }) => name === node?.tenant) ?? tenants.find(isHere) ?? tenants[0]
  const user = node?.identity.user ?? tenant?.identities.find(name => name.startsWith('system:serviceaccount:'))
  const [, , own = 'default', account = 'default'] = user?.split(':') ?? []
  // a tenant may have other namespaces on another cluster
  const owners = clusters.find(({ name }) => here.some(({ cluster }) => cluster === name))?.owners ?? new Map()
  const owned = [...owners].find(([, owner]) => owner === tenant?.name)?.[0]
  const namespace = node?.namespace ?? owned ?? tenant?.namespaces[0] ?? own
  return { isTenant: node !== undefined, tenant: tenant?.name ?? '', namespace, account }
}

/** The plant in a folder; undefined where its kustomization.yaml is not one that can be edited. */
function editsOf(tree: Tree, folder: string, text: string): Map<string, string> | undefined {
  const at = (name: string) => (folder === '' ? name : `${folder}/${name}`)
  const edits = new Map([[at(`${PLANTED}.yaml`), text], PLANTED_APP])
  const path = KUSTOMIZATION_FILES.map(at).find(file => tree.entry(file)?.type === 'file')
  if (path === undefined) return edits
  try {
    return edits.set(path, addToList({ path, text: textAt(tree, path)! }, 'resources', `${PLANTED}.yaml`))
  } catch (error) {
    if (error instanceof BailiwickError) return undefined
    throw error
  }
}

function areaOf(rendering: readonly FleetNode[], before: Fleet, isDeclared: boolean): Area {
  if (rendering.some(one => one.tenant === undefined)) return 'platform'
  if (rendering.length > 0) return 'tenant'
  if (!hasUnseen(before)) return 'unread'
  return isDeclared ? 'unseen' : 'loose'
}

/** A Namespace is found by its file. */
const plantedIn = ({ objects }: FleetNode) =>
  objects.filter(one => idOf(one).name === PLANTED || one.root.origin.file.endsWith(`${PLANTED}.yaml`))

/**
 * An overlay that puts everything into its namespace makes it another, harmless object, and a binding one for an account
 * of that namespace; a Namespace is renamed to it. It is moved where every node that renders it does so; what a planted Kustomization applies is not it.
 */
function isMoved(rendering: readonly FleetNode[], text: string): boolean {
  const nodes = rendering.filter(({ name }) => name !== PLANTED)
  const isElsewhere = ({ kind, namespace, name }: Pick<ObjectId, 'kind' | 'namespace' | 'name'>) =>
    (kind === 'Namespace' && !text.includes(`name: ${name},`)) ||
    (namespace !== '' && !text.includes(`name: ${name}, namespace: ${namespace}}`))
  const movesIt = (node: FleetNode) =>
    plantedIn(node)
      .flatMap(one => [idOf(one), ...subjectsOf(one)])
      .some(isElsewhere)
  return nodes.length > 0 && nodes.every(movesIt)
}

const subjectsOf = (object: KubeObject) => readBinding(object)?.subjects ?? []

/**
 * Whether something that only the platform controls is not known as a whole, and may apply what nothing else reads. What
 * Flux refuses applies nothing new, and what it declares is read from its files.
 */
function hasUnseen({ nodes, notSeen }: Fleet): boolean {
  const isUnseen = ({ tenant, error, unknown, source, holes = [] }: FleetNode) =>
    tenant === undefined &&
    ((error !== undefined && !isFatal(error)) ||
      unknown ||
      source.opaque !== undefined ||
      holes.some(one => !one.fatal && one.remote === undefined))
  return nodes.some(isUnseen) || notSeen.some(({ what }) => what === 'objects')
}
