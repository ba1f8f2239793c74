import { isDeepStrictEqual } from 'node:util'
import type { ApprovedNode } from '../../src/approval/approve.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { type Inventory, type InventoryTarget, newInventory } from '../../src/cluster/inventory.ts'
import type { RemoteClients } from '../../src/cluster/remote/remote-clients.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import { helmKubeConfigs } from './named-kubeconfigs.ts'

/** The cluster that a node is applied to. */
export interface ApplyTarget {
  /** Of requests as a user; those of the worker itself stay on the cluster of the inventories. */
  readonly client: ClusterClient
  /** What the inventory holds of it; absent: that cluster itself. */
  readonly record?: InventoryTarget
}

/** The target of a node: the one that its current kubeConfig names, if it has one. For `mayMake` and errors see RemoteClients. */
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
 * Where the objects of an inventory are. Throws `not-permitted` where its kubeConfig leads to another API server now:
 * nothing of it is there.
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
 * What is known of a node where it is applied now. As with Flux, objects on another cluster stay there: with another
 * kubeConfig nobody has credentials for them.
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

/** Says what stays on another cluster, see inventoryAt. */
export function leftElsewhere(
  home: ClusterClient,
  known: Inventory | undefined,
  { record }: ApplyTarget,
): Pick<AppliedNode, 'note'> {
  if (known === undefined || known.entries.length === 0 || isSameCluster(home, known.target, record)) return {}
  const where = known.target?.server ?? `cluster ${home.name} itself`
  return { note: `its kubeConfig led elsewhere before: ${known.entries.length} objects stay on ${where}` }
}

/** Of a node that has none yet. */
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
