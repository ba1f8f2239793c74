import { BailiwickError } from '../../base/errors.ts'
import { isKustomizationKind } from '../../flux/references.ts'
import { madeSources } from '../../flux/substitute/variables.ts'
import { fluxKind, ROOT_NAME, ROOT_NAMESPACE, sourceNamed } from '../../kube/flux-kinds.ts'
import { canonical } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { isRestricting } from '../bootstrap/lockdown.ts'
import { declaredSources } from '../config/declared-settings.ts'
import {
  type Cluster,
  type ClusterRoot,
  type ClusterValues,
  type FleetNode,
  isIncomplete,
  isSecondVersion,
  type Lockdown,
  lostOwners,
  type NotSeen,
  nodeKey,
} from '../model/fleet.ts'
import type { FleetConfig } from '../model/fleet-config.ts'
import { hasMoreCauses, isUnknown, type Retain } from '../model/input.ts'
import { versionlessKey } from '../model/same-node.ts'
import type { AskedRepository, ReadAccess } from '../model/source-access.ts'
import type { RenderMemory } from '../rendering/render-memory.ts'
import { isCopied, setsIn } from '../rendering/render-resource-set.ts'
import { type ClusterAccess, collectAccess, mayRead, type ReadContext } from '../sources/ask-read.ts'
import { SOURCE_GROUPS, SourceIndex, type Sources } from '../sources/sources.ts'
import { CAPSULE_GROUP, nameOfOwner, readCapsuleTenants } from '../tenancy/capsule.ts'
import {
  authorOf,
  type Delegated,
  delegated,
  NOTHING_DELEGATED,
  type TenantRepositories,
  tenantRepositories,
} from '../tenancy/delegated.ts'
import { type DeclaredTenancy, declaredIn, Tenancy, TenantBudgets } from '../tenancy/tenancy.ts'
import { admitChild, failedNode, refuseTwice } from './admit-child.ts'
import { openRoot, type Root } from './cluster-root.ts'
import { keepTenants, nextClaim, PRESUMED_ROUNDS, presumedValues } from './next-claim.ts'
import { noteCharts } from './node-sources.ts'
import { needsOf, undeclaredValues, ValueIndex, valuesError } from './node-values.ts'
import { openNode, rootNode } from './open-node.ts'
import { isSetNode, MAX_OBJECTS, openResourceSets } from './open-resource-sets.ts'
import {
  attempt,
  BlockedClaims,
  type Claim,
  type Draft,
  enqueue,
  RemoteClusters,
  releaseBlocked,
  UnownedObjects,
  WaitingClaims,
  type Walk,
} from './walk.ts'

export interface Walked {
  readonly cluster: Cluster
  /** The clusters to which it applies by kubeconfigs. */
  readonly remotes: readonly Cluster[]
  readonly nodes: readonly FleetNode[]
  readonly asked: readonly AskedRepository[]
  /** Values that only the cluster has. */
  readonly notSeen: readonly NotSeen[]
  readonly access?: ClusterAccess
}

/** What a cluster is walked with. */
export interface WalkInput {
  readonly sources: Sources
  readonly file: FleetConfig
  readonly memory?: RenderMemory | undefined
  readonly access?: ReadAccess | undefined
  readonly retain?: Retain | undefined
  readonly values?: ClusterValues | undefined
}

/**
 * The nodes of a cluster, parents first. What the platform renders is followed before what tenants render,
 * so a tenant's object never takes the place of the platform's. Problems become errors of nodes; nothing is thrown.
 */
export function walkCluster(cluster: ClusterRoot, input: WalkInput): Walked {
  const { sources, file, memory } = input
  const { name } = cluster
  const may = mayRead(input.access && accessOf(name, input.access, input.file), PLATFORM)
  const open = (values?: Foreknown['values']) =>
    openRoot(cluster, sources, new ValueIndex(name, file, values, input.values), may, memory)
  let root = open()
  const walked = (known: Foreknown) => walkWith(cluster, root, input, known)
  let known: Foreknown = {}
  let last = walked(known)
  for (let round = 0; round < PRESUMED_ROUNDS && last.presumed; round++) {
    known = { values: last.presumed }
    root = open(known.values)
    last = walked(known)
  }
  // Whose a namespace or a repository is may show only at the end; then the cluster is walked again with that.
  const confined = last.tenancy.confinedLate()
  if (confined) {
    known = { ...known, confined }
    last = walked(known)
  }
  const others = delegated(last.walked.nodes, last.tenancy, sources.own, root.lockdown)
  if (others.accounts.size > 0) {
    known = { ...known, delegated: others }
    last = walked(known)
  }
  // A tenant that the change takes away stays one for its verdict.
  const before = input.retain?.isCompared ? input.retain.clusters.get(name) : undefined
  const lost = lostOwners(before, last.tenancy)
  if (lost.size > 0) {
    known = { ...known, lost }
    last = walked(known)
  }
  const { repositories } = last
  const own = last.walked.nodes.filter(node => node.tenant === undefined && node.parent !== undefined)
  const followed = own.flatMap(({ source }) => [source, ...(source.includes ?? [])])
  if (followed.some(source => authorOf(repositories, source, sources) !== undefined))
    last = walked({ ...known, repositories })
  const delegates = others === NOTHING_DELEGATED ? {} : { delegates: others.accounts }
  return { ...last.walked, cluster: { ...last.walked.cluster, ...delegates } }
}

/** What a first walk showed that a second one starts with. */
interface Foreknown {
  /** What the platform substitutes from and renders by it. */
  readonly values?: readonly KubeObject[]
  readonly repositories?: TenantRepositories
  /** Namespaces in which the platform has an account act for another repository. */
  readonly confined?: ReadonlySet<string>
  readonly delegated?: Delegated
  /** Tenants by the namespaces that only the fleet before the change gives them. */
  readonly lost?: ReadonlyMap<string, string>
}

interface WalkedCluster {
  readonly walked: Walked
  readonly tenancy: Tenancy
  readonly repositories: TenantRepositories
  /** What another walk should start with. */
  readonly presumed: readonly KubeObject[] | undefined
}

/** Who reads the cluster's own source. */
const PLATFORM = { tenant: undefined, writer: undefined }

/** Of a cluster of which nothing is walked yet: what is declared is the platform's. */
function accessOf(cluster: string, given: ReadAccess, config: FleetConfig): ReadContext {
  return {
    cluster,
    given,
    config,
    declarerOf: () => undefined,
    contentOf: () => undefined,
    owners: new Map(),
    asked: new Map(),
  }
}

function walkWith(
  found: ClusterRoot,
  root: Root,
  { sources, file, memory, access: given, retain, values: read }: WalkInput,
  { values = [], repositories = new Map(), confined, lost, delegated = NOTHING_DELEGATED }: Foreknown,
): WalkedCluster {
  const { name } = found
  const index = new SourceIndex(declaredSources(file, name))
  const tenancy = new Tenancy(withPlatform(declaredIn(file, name), root), confined, lost)
  const lockdown = keptLockdown(root, retain?.clusters.get(name))
  const { owners } = tenancy
  const declarerOf = (id: string) => index.declarerOf(id)
  const contentOf = (id: string) => index.contentOf(id)
  const access = given && { ...accessOf(name, given, file), declarerOf, contentOf, owners }
  const walk: Walk = {
    cluster: name,
    platform: idOf(root.kustomization).namespace,
    lockdown,
    sources,
    aliases: file.aliases,
    repositories,
    delegated,
    index,
    tenancy,
    capsule: new Set(),
    artifacts: new Map(),
    whole: new Set(),
    drafts: new Map(),
    claims: [[], [], []],
    counts: new Map(),
    values: new ValueIndex(name, file, values, read),
    missed: new Map(),
    budgets: new TenantBudgets(),
    holeBudgets: new TenantBudgets(),
    readBudgets: new TenantBudgets(),
    blocked: new BlockedClaims(),
    waiting: new WaitingClaims(),
    unowned: new UnownedObjects(),
    remotes: new RemoteClusters(cluster => declaredIn(file, cluster)),
    claimed: new Set(),
    incomplete: { platform: [], tenants: [] },
    retain,
    sets: { left: MAX_OBJECTS },
    memory,
    access,
    asked: [],
  }
  start(walk, root, file)
  const openSet = (draft: Draft, set: KubeObject) => openSets(walk, draft, [set])
  for (let claim = nextClaim(walk, openSet); claim; claim = nextClaim(walk, openSet)) follow(walk, claim)
  finish(walk)
  return settled(walk, found, root, values)
}

/** What a walk that has ended found. */
function settled(walk: Walk, found: ClusterRoot, root: Root, values: Foreknown['values'] = []): WalkedCluster {
  const { name, path, how } = found
  const { access, index, sources, tenancy, lockdown } = walk
  const cluster = clusterOf(walk, found, root)
  const remotes = walk.remotes.settled({ name, path, how, lockdown })
  const nodes = [...walk.drafts.values()]
  const notSeen = undeclaredValues(name, nodes, walk.values)
  const declared = access && collectAccess(access, index, nodes, sources.own.url)
  const asked = [...walk.asked, ...(declared?.asked ?? [])]
  const walked = { cluster, remotes, nodes, notSeen, asked, ...(declared ? { access: declared } : {}) }
  const presumed = presumedValues(walk, values)
  return { walked, repositories: tenantRepositories(nodes, tenancy, sources, walk.delegated), tenancy, presumed }
}

function start(walk: Walk, root: Root, file: FleetConfig): void {
  const first = rootNode(walk, root)
  if (file.error) first.error ??= file.error
  const absent = needsOf(root.kustomization).filter(need => !walk.values.has(need.id))
  walk.missed.set(first.key, new Set(absent.map(need => need.id)))
  walk.drafts.set(first.key, first)
  collect(walk, first)
  addStart(walk, first, root)
}

function clusterOf({ lockdown, tenancy }: Walk, found: ClusterRoot, root: Root): Cluster {
  const { name, path, how } = found
  const [former, selfMade] = [tenancy.former(), tenancy.selfMade()]
  return {
    ...{ name, path, how, lockdown, owners: tenancy.owners, capsuleOwners: tenancy.capsule.owners() },
    ...(lockdown === root.lockdown ? {} : { shownLockdown: root.lockdown }),
    ...(found.former ? { former: true } : {}),
    ...(found.otherStarts ? { otherStarts: found.otherStarts } : {}),
    ...(selfMade.size === 0 ? {} : { selfMade }),
    ...(former.size === 0 ? {} : { formerOwners: former }),
  }
}

/** Flux's own namespace is the platform's wherever it is: its objects decide what the cluster gets. */
function withPlatform(declared: DeclaredTenancy, { kustomization }: Root): DeclaredTenancy {
  const { namespace } = idOf(kustomization)
  if (namespace === '' || namespace === ROOT_NAMESPACE) return declared
  return { ...declared, platformNamespaces: new Set([...declared.platformNamespaces, namespace]) }
}

/** What is made of no file that the root applies is there all the same: its own start. */
function addStart(walk: Walk, first: Draft, { source }: Root): void {
  walk.index.addBootstrap(first.source.id || `GitRepository/${ROOT_NAMESPACE}/${ROOT_NAME}`)
  if (!source) return
  const { kind, namespace, name } = idOf(source)
  const known = walk.index.find(`${kind}/${namespace}/${name}`)
  // what bootstrap makes is this repository as it is; an artifact may hold a part of it
  if (known === undefined || (known === 'bootstrap' && fluxKind(sourceNamed(kind))?.source !== 'git'))
    walk.index.add(source, first)
}

function follow(walk: Walk, claim: Claim): void {
  const name = admitChild(walk, claim)
  if (name === undefined) return
  const draft = openNode(walk, claim.kustomization, claim.parent, name)
  if ('unknownSource' in draft) {
    walk.waiting.add(claim, draft.unknownSource)
    return
  }
  if (!('key' in draft)) {
    const { namespace } = idOf(claim.kustomization)
    const others = claim.parent.tenant !== undefined || walk.tenancy.owners.has(namespace)
    walk.blocked.add(claim, draft, others ? 'anybody' : 'platform')
    return
  }
  if (isSecondVersion(draft) && draft.tenant !== undefined) {
    refuseTwice(walk, claim)
    return
  }
  walk.drafts.set(draft.key, draft)
  const account = draft.tenant ?? ''
  walk.counts.set(account, (walk.counts.get(account) ?? 0) + 1)
  collect(walk, draft)
}

/** Takes note of what a node renders: namespaces first, then sources, then Kustomizations, whatever their order. */
function collect(walk: Walk, draft: Draft): void {
  const retained = retainedObjects(draft, walk.retain?.nodes.get(draft.key))
  if (retained.length > 0) draft.retained = retained
  if (isUnknown(draft, walk.retain)) draft.unknown = true
  if (draft.hub !== undefined) {
    walk.remotes.add(draft)
    return
  }
  const own = draft.tenant === undefined
  if (draft.retained) walk.incomplete[own ? 'platform' : 'tenants'].push(draft)
  const namespaces: KubeObject[] = []
  const ofCapsule: KubeObject[] = []
  for (const object of draft.objects) {
    const { apiVersion, kind } = idOf(object)
    const group = groupOf(apiVersion)
    if (group === CAPSULE_GROUP) ofCapsule.push(object)
    else if (kind === 'Namespace' && group === '') namespaces.push(object)
  }
  if (own && ofCapsule.length > 0) {
    const tenants = readCapsuleTenants(ofCapsule)
    for (const { owners } of tenants) for (const owner of owners) walk.capsule.add(nameOfOwner(owner))
    walk.tenancy.capsule.add(tenants)
  }
  for (const object of namespaces) {
    if (own) attempt(draft, () => walk.tenancy.declare(object))
    else walk.tenancy.create(object, draft.tenant!, draft.identity, walk.capsule)
  }
  keepTenants(walk, draft)
  note(walk, draft, own ? draft.objects : walk.unowned.own(draft, draft.objects, walk.tenancy.owners))
  for (const object of namespaces) {
    for (const late of walk.unowned.release(idOf(object).name, walk.tenancy.owners))
      note(walk, late.draft, [late.object])
  }
  openSets(walk, draft, setsIn(draft.objects))
}

function openSets(walk: Walk, draft: Draft, sets: readonly KubeObject[]): void {
  for (const made of openResourceSets(walk, draft, sets)) {
    walk.drafts.set(made.key, made)
    collect(walk, made)
  }
}

function note(walk: Walk, draft: Draft, objects: readonly KubeObject[]): void {
  const rule = draft.tenant === undefined ? undefined : 'ownership-conflict'
  const values: KubeObject[] = []
  const kustomizations: KubeObject[] = []
  for (const object of objects) {
    const { apiVersion, kind } = idOf(object)
    const group = groupOf(apiVersion)
    if (SOURCE_GROUPS.has(group)) attempt(draft, () => walk.index.add(object, draft, rule))
    else if (group === '') values.push(object)
    else if (isKustomizationKind(group, kind)) kustomizations.push(object)
  }
  for (const object of values) {
    releaseBlocked(walk, walk.values.add(object, !(isSetNode(draft) && isCopied(object))))
  }
  for (const made of objects.flatMap(madeSources)) {
    // of a tenant's the keys are unknown, too: the tenant may have the controller merge more into it
    if (draft.tenant === undefined) releaseBlocked(walk, walk.values.addMade(made))
    else if (walk.tenancy.owners.get(made.namespace) === draft.tenant)
      walk.values.addMade({ ...made, variables: undefined })
  }
  for (const kustomization of kustomizations) {
    walk.claimed.add(nodeKey(walk.cluster, idOf(kustomization)))
    enqueue(walk, { kustomization, parent: draft })
  }
}

function finish(walk: Walk): void {
  walk.tenancy.settle(new Set([...walk.drafts.values()].flatMap(draft => draft.tenant ?? [])))
  for (const draft of walk.drafts.values()) {
    if (!walk.tenancy.late.has(draft.namespace) || draft.error) continue
    const message = `Namespace ${draft.namespace}: assigned to a tenant only after its first use`
    const fix = 'Move the Namespace with its tenant label to a Kustomization of flux-system.'
    draft.error = new BailiwickError('graph-conflict', message, { origin: draft.kustomization.root.origin, fix })
  }
  noteCharts(walk)
  const followed = new Set([...walk.drafts.values()].map(({ source }) => source.url))
  for (const draft of walk.drafts.values()) {
    const missed = walk.missed.get(draft.key) ?? new Set()
    const error = draft.digest === '' ? undefined : valuesError(draft.kustomization, missed, walk.values)
    if (error) draft.error ??= error
    if (draft.error || draft.holes) failedNode(walk, draft, followed)
  }
}

/**
 * The flags of Flux on a cluster: where its root does not build as a whole, a flag that its last complete build had on
 * stays on. What the root itself shows is the very object of `root` where that is all.
 */
function keptLockdown(root: Root, before: Cluster | undefined): Lockdown {
  const isWhole = !root.error && root.resolved.type === 'content'
  if (isWhole || !before || root.resolved.type === 'wanted') return root.lockdown
  const [now, was] = [root.lockdown, before.lockdown]
  const account = now.defaultServiceAccount ?? was.defaultServiceAccount
  const helmAccount = now.helmDefaultServiceAccount ?? was.helmDefaultServiceAccount
  // what shows no controller shows nothing of how strict it is
  const isLenient = was.strictSubstitution === false && (!now.flux || now.strictSubstitution === false)
  const flux = now.flux ?? was.flux
  return {
    noCrossNamespaceRefs: now.noCrossNamespaceRefs || was.noCrossNamespaceRefs,
    noRemoteBases: now.noRemoteBases || was.noRemoteBases,
    ...(account === undefined ? {} : { defaultServiceAccount: account }),
    ...(helmAccount === undefined ? {} : { helmDefaultServiceAccount: helmAccount }),
    ...(isLenient ? { strictSubstitution: false } : {}),
    ...(flux ? { flux } : {}),
  }
}

type Built = Pick<FleetNode, 'objects' | 'digest' | 'source' | 'error' | 'holes'>

/**
 * What of a node's last complete build counts beside what it renders now. Where the node builds as a whole, nothing does.
 * Where `before` lacked parts for the same causes, what it had and the node has not was taken out on purpose, so only what
 * `before` itself retained still counts. Where Flux refuses the node, the cluster keeps what confines and what applies as it
 * was.
 */
export function retainedObjects(node: Built, before: FleetNode | undefined): readonly KubeObject[] {
  if (!before || !isIncomplete(node)) return []
  const earlier = hasMoreCauses(node, before)
    ? [...before.objects, ...(before.retained ?? [])]
    : (before.retained ?? [])
  const present = new Map(node.objects.map(object => [versionlessKey(object), object]))
  const mayDiffer = node.holes?.some(({ effect, fatal }) => fatal || effect === 'different') ?? false
  const kept = earlier.filter(object => {
    const now = present.get(versionlessKey(object))
    return !now || (mayDiffer && isRestricting(object) && canonical(now.root) !== canonical(object.root))
  })
  // of two versions of one object the first is what `before` itself rendered
  return [...new Map(kept.toReversed().map(object => [versionlessKey(object), object])).values()].toReversed()
}
