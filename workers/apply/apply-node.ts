import { isDeepStrictEqual } from 'node:util'
import { BailiwickError } from '../../src/base/errors.ts'
import { applyObjects } from '../../src/cluster/apply-objects.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import {
  claim,
  entryOf,
  type Inventory,
  type InventoryEntry,
  type InventoryTarget,
  newInventory,
  unionEntries,
} from '../../src/cluster/inventory.ts'
import { idOf, parseExact, stringAt } from '../../src/cluster/json.ts'
import { assertVerified, refuseOwnTarget } from '../../src/cluster/refused-targets.ts'
import type { NamedKubeConfig } from '../../src/cluster/remote/own-kubeconfigs.ts'
import type { RemoteClients } from '../../src/cluster/remote/remote-clients.ts'
import { HELM_GROUP, KUSTOMIZE_GROUP } from '../../src/kube/flux-kinds.ts'
import type { Json } from '../../src/kube/node.ts'
import type { AppliedNode, AppliedObject } from '../../src/report/apply-report.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'
import type { Moves } from './moves.ts'

export interface NodeResult {
  readonly key: string
  readonly objects: readonly AppliedObject[]
  /** False: the API server refused something; nothing of the node is pruned then. */
  readonly complete: boolean
  /** As last stored: the objects that the node has, and those that are still to be pruned. */
  readonly inventory: Inventory
  /** Objects that the node no longer has. */
  readonly stale: readonly InventoryEntry[]
  /** Of a completely applied node: what others had changed or deleted. */
  readonly drift: readonly AppliedObject[]
}

/**
 * Applies one approved node as its account. Objects are recorded before they are created, fenced by the inventory's
 * resourceVersion: a crash leaves nothing unrecorded, and of two workers one stops (`cluster-fenced`). The inventory is
 * not written if neither it nor the cluster changes. `target`: where its kubeConfig leads. `moves`: what it may take
 * over; absent: nothing.
 */
export async function applyNode(
  client: ClusterClient,
  node: ApprovedNode,
  known: Inventory | undefined,
  signal: AbortSignal,
  target: ApplyTarget = { client },
  moves?: Moves,
): Promise<NodeResult> {
  const { key, user, parent, prune, revisionSet } = node
  const own = { parent, user, prune, deletionPolicy: node.settings.deletionPolicy }
  const before = inventoryAt(client, known, target) ?? newNodeInventory(client, node, target)
  const id = { apiVersion: `${KUSTOMIZE_GROUP}/v1`, kind: 'Kustomization', namespace: node.namespace, name: node.name }
  // before anything is read as this account: keys, for example
  await refuseOwnTarget(client, { user, id })
  const actor = node.impersonated ? { user } : 'worker'
  for (const { id: source, commit, verify } of [node.source, ...(node.source.includes ?? [])]) {
    if (verify !== undefined) await assertVerified(client, actor, { id: source!, commit, verify }, signal)
  }
  const { objects, confidential } = openObjects(node)
  const planned = objects.map(object => entryOf(idOf(object)))
  let claimed = before
  const applied = await applyObjects(target.client, {
    user,
    owner: { namespace: node.namespace, name: node.name },
    objects,
    confidential,
    known: before.entries,
    // the platform takes over what bootstrap created, as Flux does; a tenant takes over only its own objects
    adopt: node.tenant === null,
    ...(moves ? { isReleased: (owner, entry) => moves.isReleased(node, owner, entry) } : {}),
    force: node.settings.force,
    ignore: node.settings.ignore,
    signal,
    beforeWrite: async () => {
      const entries = unionEntries(before.entries, planned)
      claimed = await claim(client, before, { ...own, revisionSet, entries, settled: false })
    },
  })
  const wanted = new Set(planned.map(entry => entry.id))
  const stale = before.entries.filter(entry => !wanted.has(entry.id))
  const complete = applied.failed === 0
  const drift = driftIn(applied.objects, node, before)
  const result = { key, objects: applied.objects.flatMap(described), complete, stale, drift }
  // everything was refused, so nothing was written
  if (!complete && claimed === before) return { ...result, inventory: known ?? before }

  const present = applied.objects.flatMap(object => object.entry ?? [])
  const entries = unionEntries(planned, stale, present)
  const done = { revision: node.source.commit, digest: node.applyDigest, settled: stale.length === 0 }
  const content = { ...own, entries, ...(complete ? done : {}) }
  if (claimed === before && isDeepStrictEqual({ ...before, ...content }, before))
    return { ...result, inventory: before }
  return { ...result, inventory: await claim(client, claimed, { ...content, revisionSet }) }
}

type Result = Awaited<ReturnType<typeof applyObjects>>['objects'][number]

/** What was written although the cluster had had all of it. */
function driftIn(objects: readonly Result[], node: ApprovedNode, before: Inventory): AppliedObject[] {
  if (!isSettled(node, before)) return []
  return objects
    .filter(({ action }) => action === 'created' || action === 'configured' || action === 'recreated')
    .map(one => ({ ...described(one), ...(one.drift ? { drift: one.drift } : {}) }))
}

function described({ id, action, message, fields }: Result): AppliedObject {
  const outcome = action === 'failed' ? 'refused' : action === 'recreated' ? 'configured' : action
  const named = fields === undefined ? {} : { fields: fields.map(field => ({ field })) }
  return { object: id, action: outcome, ...(message === undefined ? {} : { message }), ...named }
}

/** The cluster that a node is applied to. */
export interface ApplyTarget {
  /** For requests as a user; the worker's own requests stay on the cluster of the inventories. */
  readonly client: ClusterClient
  /** Its record in the inventory; absent: that cluster itself. */
  readonly record?: InventoryTarget
}

/** The target of a node: that of its current kubeConfig, if it has one. For `mayMake` and errors see RemoteClients. */
export async function targetOfNode(
  home: ClusterClient,
  remotes: RemoteClients | undefined,
  {
    namespace,
    user,
    cluster,
    settings: { kubeConfig },
  }: Pick<ApprovedNode, 'namespace' | 'user' | 'cluster' | 'settings'>,
  mayMake = false,
): Promise<ApplyTarget> {
  if (kubeConfig === undefined) return { client: home }
  const { client, server } = await listed(remotes).open({ namespace, user, cluster, kubeConfig }, mayMake)
  return { client, record: { ...kubeConfig, cluster, server } }
}

/** The target of an approved node. First creates the kubeconfigs that the node and its HelmReleases use. */
export async function targetToApply(
  home: ClusterClient,
  remotes: RemoteClients | undefined,
  node: ApprovedNode,
): Promise<ApplyTarget> {
  if (remotes?.own.isOn && node.impersonated) {
    for (const named of helmKubeConfigs(node)) await remotes.own.keep(named)
  }
  return await targetOfNode(home, remotes, node, true)
}

/**
 * The target of an inventory's objects. Throws `not-permitted` if its kubeConfig now leads to another API server, which
 * has none of them.
 */
export async function targetOfInventory(
  home: ClusterClient,
  remotes: RemoteClients | undefined,
  { node, user, target }: Pick<Inventory, 'node' | 'user' | 'target'>,
): Promise<ApplyTarget> {
  if (target === undefined) return { client: home }
  const [, namespace = ''] = node.split('/')
  const { cluster, server: before, ...kubeConfig } = target
  // the account was approved together with the node
  const { client, server } = await listed(remotes).open({ namespace, user, cluster, kubeConfig }, true)
  if (server === before || cluster === home.name) return { client, record: target }
  const what = `${target.kind} ${namespace}/${target.name} names the API server ${server} now, and its objects are on ${before}`
  throw new BailiwickError('not-permitted', what, { fix: 'Write the former kubeconfig until its objects are deleted.' })
}

/**
 * The inventory of a node at its present target. As with Flux, objects on another cluster stay there, because the new
 * kubeConfig has no credentials for them.
 */
export function inventoryAt(
  home: ClusterClient,
  known: Inventory | undefined,
  now: ApplyTarget,
): Inventory | undefined {
  if (known === undefined || isDeepStrictEqual(known.target, now.record)) return known
  const { target, ...rest } = known
  const entries = isSameCluster(home, target, now.record) ? known.entries : []
  return { ...rest, entries, settled: false, ...(now.record === undefined ? {} : { target: now.record }) }
}

/** The note about objects that stay on another cluster, see inventoryAt. */
export function leftElsewhere(
  home: ClusterClient,
  known: Inventory | undefined,
  { record }: ApplyTarget,
): Pick<AppliedNode, 'note'> {
  if (known === undefined || known.entries.length === 0 || isSameCluster(home, known.target, record)) return {}
  const where = known.target?.server ?? `cluster ${home.name} itself`
  return { note: `its kubeConfig led elsewhere before: ${known.entries.length} objects stay on ${where}` }
}

/** The empty inventory of a new node. */
export function newNodeInventory(
  home: ClusterClient,
  { key, user }: Pick<ApprovedNode, 'key' | 'user'>,
  { record }: ApplyTarget,
): Inventory {
  return { ...newInventory(home.name, key, user), ...(record === undefined ? {} : { target: record }) }
}

/** The cluster itself may be reached by several addresses. */
function isSameCluster(
  home: ClusterClient,
  before: InventoryTarget | undefined,
  now: InventoryTarget | undefined,
): boolean {
  const [from, to] = [before?.cluster ?? home.name, now?.cluster ?? home.name]
  return from === to && (to === home.name || before?.server === now?.server)
}

function listed(remotes: RemoteClients | undefined): RemoteClients {
  if (remotes !== undefined) return remotes
  throw new BailiwickError('not-permitted', 'clusters.yaml lists no API server for kubeConfigs of this cluster', {
    fix: 'List it under `kubeConfigs` of this cluster in clusters.yaml.',
  })
}

/**
 * Whether the node was applied with exactly this content, account and settings, and has nothing left to prune. Changes
 * by others since then do not count.
 */
export function isSettled(node: ApprovedNode, inventory: Inventory | undefined): inventory is Inventory {
  if (inventory?.settled !== true || inventory.digest !== node.applyDigest) return false
  const target = node.settings.kubeConfig === undefined ? undefined : node.cluster
  return inventory.parent === node.parent && inventory.target?.cluster === target
}

/** What is applied of a node. */
interface OpenedObjects {
  readonly objects: readonly Json[]
  /** The objects with decrypted or other cluster values, which no message may quote. */
  readonly confidential: ReadonlySet<Json>
}

/**
 * The objects of a node as they are applied: exactly those that were evaluated, in clear. Throws `cluster-invalid` if
 * something is still encrypted.
 */
export function openObjects({ objects: texts, confidential = [], decryption, unopened }: ApprovedNode): OpenedObjects {
  const seals = decryption?.seals.length ?? 0
  if (unopened !== undefined || seals > 0) {
    throw new BailiwickError('cluster-invalid', unopened ?? 'its encrypted objects were not decrypted and evaluated')
  }
  const objects = texts.map(parseExact)
  return { objects, confidential: new Set(confidential.map(place => objects[place]!)) }
}

type Node = Pick<ApprovedNode, 'namespace' | 'user' | 'settings' | 'objects'>

/** The kubeconfigs that an approved node and its HelmReleases name, with the accounts that use them. */
export function namedKubeConfigs(node: Node): NamedKubeConfig[] {
  const { namespace, user, settings } = node
  const own = settings.kubeConfig === undefined ? [] : [{ namespace, user, kubeConfig: settings.kubeConfig }]
  return [...own, ...helmKubeConfigs(node)]
}

/** The kubeconfigs of its HelmReleases, which helm-controller reads itself. */
function helmKubeConfigs({ user, objects }: Node): NamedKubeConfig[] {
  return objects
    .filter(text => text.includes('"kubeConfig"'))
    .map(parseExact)
    .filter(isHelmRelease)
    .map(object => {
      const ref = (field: string) => stringAt(object, 'spec', 'kubeConfig', 'secretRef', field)
      const kubeConfig = { kind: 'Secret', name: ref('name'), key: ref('key') } as const
      return { namespace: stringAt(object, 'metadata', 'namespace'), user, kubeConfig }
    })
}

const isHelmRelease = (object: Json): boolean =>
  stringAt(object, 'kind') === 'HelmRelease' && stringAt(object, 'apiVersion').startsWith(`${HELM_GROUP}/`)
