import { BailiwickError } from '../../base/errors.ts'
import { FleetSession } from '../../fleet/graph/fleet-session.ts'
import { type Fleet, type FleetNode, nodesByKey } from '../../fleet/model/fleet.ts'
import type { Tree } from '../../git/tree.ts'
import { canonical, stringAt } from '../../kube/node.ts'
import { display, idOf, type KubeObject } from '../../kube/object.ts'
import { normaliseUrl } from '../../kube/source-address.ts'
import { codeSpan as code } from '../onboard/request.ts'
import { fleetAt } from '../onboard/tenant-layout.ts'
import { type Belonging, belongings, capsuleEntries, type Placed } from './belongings.ts'
import { type Edits, editedTree } from './edited-tree.ts'
import { type IsDoomed, removeObjects } from './remove-objects.ts'
import { type OffboardRequest, type OffboardStage, offboardInput } from './request.ts'
import { sideEdits } from './side-files.ts'

/** One file of an offboarding: its whole new content; null: it is deleted. */
interface OffboardFile {
  readonly path: string
  readonly content: string | null
}

/** A Kustomization of the tenant that ends. */
interface EndingNode {
  readonly key: string
  readonly cluster: string
  /** Whether it deletes what it applied: it prunes, and is not suspended. */
  readonly prunes: boolean
  /** Names of the PersistentVolumeClaims that it applies, as far as its content is at hand. */
  readonly claims: readonly string[]
}

export interface OffboardPlan {
  readonly stage: OffboardStage
  /** The clusters that it is about, sorted. */
  readonly clusters: readonly string[]
  /** Sorted by path; empty where the fleet has nothing of the tenant anymore. */
  readonly files: readonly OffboardFile[]
  /** What the platform deletes, by cluster, each as `Kind namespace/name`. */
  readonly objects: readonly { readonly cluster: string; readonly names: readonly string[] }[]
  /** Kustomizations of the tenant that end, those inside of others too. */
  readonly nodes: readonly EndingNode[]
  /** Addresses of the tenant's repositories, sorted. */
  readonly sources: readonly string[]
  /** What is left to do by hand, in plain text. */
  readonly notes: readonly string[]
}

/**
 * The next of the changes that take a tenant out of a fleet, by what the fleet has now. The result is rendered and
 * compared: exactly the tenant's objects go, and everything else stays as it was. Throws `offboard-input` for a request that may not
 * be, `offboard-layout` with file and line for what cannot be edited with certainty.
 */
export function planOffboarding(request: OffboardRequest, tree: Tree, fleetUrl: string, branch: string): OffboardPlan {
  const session = new FleetSession()
  const before = fleetAt(tree, fleetUrl, branch, session)
  const clusters = clustersOf(before, request)
  assertRendered(before, clusters)
  const all = belongings(before, request.tenant, clusters)
  const stage = stageOf(all)
  const nothing = { stage, clusters, files: [], objects: [], nodes: [], sources: [], notes: [] }
  if (stage === 'done') return nothing
  const going = all.filter(one => one.stage === stage)
  const on = [...new Set(going.map(({ node }) => node.cluster))].sort()
  const isDoomed = lookUp(going)
  const nodes = endingNodes(before, going)
  const ending = new Set(nodes.map(({ key }) => key))
  refuseDependents(before, ending)
  const placed = placedIn(before, fleetUrl, ending)
  const home = (edits: Edits) => fleetAt(editedTree(tree, edits), fleetUrl, branch, session)
  const edits = removeObjects(tree, placed, isDoomed, request.tenant)
  const after = home(edits)
  const problem = compareOffboarded(before, after, isDoomed, ending)
  if (problem !== undefined) throw cannotEdit(going[0]!, edits, problem)
  const { isExpected, ...side } =
    stage === 'rest'
      ? editsBesides({ tree, before, after, going, edits, request, clusters })
      : { edits, notes: [], isExpected: undefined }
  const worse =
    side.edits === edits ? undefined : compareOffboarded(before, home(side.edits), isDoomed, ending, isExpected)
  if (worse !== undefined) throw cannotEdit(going[0]!, side.edits, worse)
  return {
    ...nothing,
    clusters: on,
    files: filesOf(side.edits),
    objects: [...Map.groupBy(going, ({ node }) => node.cluster)].map(([cluster, of]) => ({
      cluster,
      names: namesOf(of),
    })),
    nodes,
    sources: addressesOf(all),
    notes: side.notes,
  }
}

interface Leaving {
  readonly tree: Tree
  readonly before: Fleet
  readonly after: Fleet
  readonly going: readonly Belonging[]
  readonly edits: Edits
  readonly request: OffboardRequest
  readonly clusters: readonly string[]
}

/** Further edits when a tenant's last objects leave: entries of Capsule's configuration, and files that no cluster reads. */
function editsBesides({ tree, before, after, going, edits, request, clusters }: Leaving) {
  const capsule = capsuleEntries(tree, edits, { before, after, going })
  const side = sideEdits(tree, capsule.edits, request, clusters, before)
  return { edits: side.edits, notes: [...capsule.notes, ...side.notes], isExpected: capsule.isExpected }
}

const filesOf = (edits: Edits): OffboardFile[] =>
  [...edits].map(([path, content]) => ({ path, content })).sort((a, b) => (a.path < b.path ? -1 : 1))

const namesOf = (of: readonly Placed[]): string[] => of.map(({ object }) => display(idOf(object))).sort()

function clustersOf(fleet: Fleet, { tenant, clusters }: OffboardRequest): string[] {
  const names = fleet.clusters.map(({ name }) => name)
  const unknown = clusters.find(name => !names.includes(name))
  if (unknown !== undefined) {
    throw offboardInput(
      `this fleet has no cluster ${unknown}`,
      `Clusters of this fleet: ${names.join(', ') || 'none'}.`,
    )
  }
  if (fleet.config.tenants.get(tenant)?.platform) {
    throw offboardInput(`tenant ${tenant} is part of the platform`, 'Name a tenant that is not.')
  }
  return (clusters.length > 0 ? [...clusters] : names).sort()
}

/** What cannot be rendered may use what is removed. */
function assertRendered(fleet: Fleet, clusters: readonly string[]): void {
  const broken = fleet.nodes.find(node => node.tenant === undefined && (node.error || (node.holes ?? []).length > 0))
  if (!broken) return
  const cause = broken.error ?? broken.holes![0]!.error
  throw new BailiwickError('offboard-layout', `${broken.key} cannot be rendered: ${cause.message}`, {
    fix: clusters.includes(broken.cluster)
      ? 'Fix it first. Until then, what belongs to the tenant is unknown.'
      : 'Fix it first. Until then, it is unknown whether it reads the same files.',
    origin: cause.origin,
    cause,
  })
}

function stageOf(all: readonly Belonging[]): OffboardStage {
  if (all.length === 0) return 'done'
  return all.some(({ stage }) => stage === 'workloads') ? 'workloads' : 'rest'
}

/** One object may be in several nodes: caches share it. */
function lookUp(going: readonly Placed[]): IsDoomed {
  const byNode = new Map<string, Set<KubeObject>>()
  for (const { node, object } of going) {
    const of = byNode.get(node.key) ?? new Set()
    byNode.set(node.key, of.add(object))
  }
  return ({ node, object }) => byNode.get(node.key)?.has(object) ?? false
}

/** The Kustomizations that go, with those that they apply themselves. */
function endingNodes(fleet: Fleet, going: readonly Belonging[]): EndingNode[] {
  const applied = new Set(
    going.map(({ node, object }) => {
      const { namespace, name } = idOf(object)
      return `${node.cluster}/${namespace}/${name}`
    }),
  )
  const isGoing = going.some(({ stage }) => stage === 'workloads')
  const ends = new Map<string, FleetNode>()
  // parents come first
  for (const node of isGoing ? fleet.nodes : []) {
    const isOwn = node.tenant !== undefined && applied.has(node.key)
    if (isOwn || (node.parent !== undefined && ends.has(node.parent))) ends.set(node.key, node)
  }
  return [...ends.values()].map(({ key, cluster, prune, suspend, objects }) => ({
    key,
    cluster,
    prunes: prune && !suspend,
    claims: objects
      .map(idOf)
      .flatMap(({ kind, namespace, name }) => (kind === 'PersistentVolumeClaim' ? [`${namespace}/${name}`] : [])),
  }))
}

function addressesOf(all: readonly Placed[]): string[] {
  const found = all.flatMap(({ object }) => stringAt(object.root, ['spec', 'url']) ?? [])
  return [...new Set(found.map(normaliseUrl))].sort()
}

/** A Kustomization that depends on a removed one waits for ever. */
function refuseDependents(fleet: Fleet, ending: ReadonlySet<string>): void {
  for (const node of fleet.nodes) {
    const on = ending.has(node.key) ? undefined : node.dependsOn.find(name => ending.has(name))
    if (on === undefined) continue
    throw new BailiwickError('offboard-layout', `${node.key} depends on ${on}, which is removed`, {
      fix: `Remove ${on} from its spec.dependsOn, then run the command again.`,
      origin: node.kustomization.root.origin,
    })
  }
}

/** Every object that is written in the fleet's own files and that goes on being rendered. */
function placedIn(fleet: Fleet, fleetUrl: string, ending: ReadonlySet<string>): Placed[] {
  const home = normaliseUrl(fleetUrl)
  return fleet.nodes
    .filter(node => !ending.has(node.key) && normaliseUrl(node.source.url) === home)
    .flatMap(node => node.objects.map(object => ({ node, object })))
}

function cannotEdit({ object }: Placed, edits: Edits, problem: string): BailiwickError {
  const { file, line } = object.root.origin
  const files = [...edits.keys()].sort().join(', ')
  return new BailiwickError(
    'offboard-layout',
    `${display(idOf(object))}: no edit of ${files} removes the objects of the tenant without another change (${problem})`,
    {
      fix: `Remove ${display(idOf(object))} by hand, with every patch and entry that names it, then run the command again.`,
      origin: { repository: '', file, line, column: 1 },
    },
  )
}

type IsExpected = (before: KubeObject, after: KubeObject) => boolean

/**
 * Why `after` is not exactly `before` without the removed objects; undefined if it is, and everything else renders
 * as before. `ending`: keys of the nodes that are removed with it. `isExpected`: whether a change of an object is part of it.
 */
function compareOffboarded(
  before: Fleet,
  after: Fleet,
  isDoomed: IsDoomed,
  ending: ReadonlySet<string>,
  isExpected: IsExpected = () => false,
): string | undefined {
  const now = nodesByKey(after.nodes)
  const old = new Set(before.nodes.map(({ key }) => key))
  for (const node of before.nodes) {
    const other = now.get(node.key)
    if (ending.has(node.key)) {
      if (other) return `the Kustomization ${node.key} would still be there`
      continue
    }
    if (!other) return `the Kustomization ${node.key} would be gone`
    const problem = compareNode(node, other, isDoomed, isExpected)
    if (problem !== undefined) return problem
  }
  const fresh = after.nodes.find(({ key }) => !old.has(key))
  return fresh && `the Kustomization ${fresh.key} would be new`
}

function compareNode(
  before: FleetNode,
  after: FleetNode,
  isDoomed: IsDoomed,
  isExpected: IsExpected,
): string | undefined {
  if (after.error?.message !== before.error?.message) return `${before.key} would fail: ${after.error?.message}`
  if ((after.holes ?? []).length > (before.holes ?? []).length) {
    return `${before.key} would not build as a whole: ${after.holes![0]!.error.message}`
  }
  const now = new Map(after.objects.map(object => [keyOf(object), object]))
  for (const object of before.objects) {
    const name = `${display(idOf(object))} on ${before.cluster}`
    const other = now.get(keyOf(object))
    now.delete(keyOf(object))
    if (isDoomed({ node: before, object })) {
      if (other) return `${name} would still be there`
      continue
    }
    if (!other) return `${name} would be gone`
    if (canonical(other.root) !== canonical(object.root) && !isExpected(object, other)) return `${name} would change`
  }
  const [stray] = now.values()
  return stray && `${display(idOf(stray))} on ${before.cluster} would be new`
}

const keyOf = (object: KubeObject) => JSON.stringify(idOf(object))

interface OffboardText {
  readonly title: string
  /** Markdown. */
  readonly body: string
}

/** The command with which a fleet admin confirms that the last change is applied. */
const nextLine = ({ tenant, clusters }: OffboardRequest): string =>
  [`/bailiwick offboard ${tenant}`, ...clusters.map(name => `--cluster ${name}`), '--continue'].join(' ')

/** Title and text of one of the pull requests: what is deleted where, the files, what comes next. */
export function offboardText(request: OffboardRequest, plan: OffboardPlan): OffboardText {
  const { tenant } = request
  const isFirst = plan.stage === 'workloads'
  const where = plan.clusters.map(name => code(name)).join(', ')
  const body = [
    isFirst
      ? `Removes what runs for tenant ${code(tenant)} on ${where}. This is the first of two pull requests: accounts, roles, sources and namespaces stay, because the tenant's objects are deleted with them.`
      : `Removes the rest of tenant ${code(tenant)} on ${where}: sources, accounts, roles, namespaces and credentials. This is the second of two pull requests.`,
    '### What is deleted',
    plan.objects.map(({ cluster, names }) => `- on ${code(cluster)}: ${names.map(code).join(', ')}`).join('\n'),
    ...(plan.nodes.length > 0 ? [plan.nodes.map(nodeLine).join('\n')] : []),
    ...data(plan),
    ...filesText(plan),
    '### Next',
    isFirst
      ? `Merge it. When the clusters have applied it, Bailiwick opens the next pull request. On clusters that no worker of Bailiwick applies to, a fleet admin comments when the Kustomizations are gone:\n\n${block(nextLine(request))}`
      : `Merge it. If the tenant is then on no cluster, its deploy keys are deleted. Remove its namespaces from ${code('clusters.yaml')} of the worker if it names them (${code('kmsKeys')}, ${code('kubeConfigs')}).`,
  ]
  const title = isFirst ? `Offboard tenant ${tenant}: workloads` : `Offboard tenant ${tenant}: accounts and namespaces`
  return { title: title.slice(0, 200), body: body.join('\n\n') }
}

const block = (line: string) => `\`\`\`\n${line}\n\`\`\``

function filesText({ files, notes }: OffboardPlan): string[] {
  return [
    '### Files',
    files.map(({ path, content }) => `- ${code(path)} (${content === null ? 'deleted' : 'edited'})`).join('\n'),
    ...(notes.length > 0 ? ['### By hand', notes.map(note => `- ${code(note)}`).join('\n')] : []),
  ]
}

function nodeLine({ key, prunes, claims }: OffboardPlan['nodes'][number]): string {
  if (!prunes)
    return `- ${code(key)} deletes nothing: it does not prune, or is suspended. Its objects stay until their namespace goes.`
  const volumes =
    claims.length > 0
      ? `, with the data of ${claims.map(name => code(`PersistentVolumeClaim ${name}`)).join(', ')}`
      : ''
  return `- ${code(key)} deletes everything that it applied${volumes}`
}

/** Git restores manifests, not volumes. */
function data({ objects }: OffboardPlan): string[] {
  const namespaces = objects.flatMap(({ cluster, names }) =>
    names.filter(name => name.startsWith('Namespace ')).map(name => `${code(name)} on ${code(cluster)}`),
  )
  if (namespaces.length === 0) return []
  return [
    `⚠️ Deleting ${namespaces.join(', ')} deletes everything that is left there, PersistentVolumeClaims and their data too. Git cannot restore it.`,
  ]
}

/** The reply where the second change waits. */
export function waitingText(
  request: OffboardRequest,
  waits: readonly { cluster: string; isApplied: boolean }[],
): string {
  const unapplied = waits.filter(({ isApplied }) => isApplied).map(({ cluster }) => code(cluster))
  const unseen = waits.filter(({ isApplied }) => !isApplied).map(({ cluster }) => code(cluster))
  return [
    `The workloads of tenant ${code(request.tenant)} are removed from the fleet. The next pull request waits.`,
    ...(unapplied.length > 0 ? [`- The worker has not applied that yet to ${unapplied.join(', ')}.`] : []),
    ...(unseen.length > 0
      ? [
          `- No worker of Bailiwick applies to ${unseen.join(', ')}. When the Kustomizations of the tenant are gone there, comment:\n\n${block(nextLine(request))}`,
        ]
      : []),
  ].join('\n')
}
