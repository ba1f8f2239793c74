import { createHash, randomUUID } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { BailiwickError, type ErrorCode } from '../base/errors.ts'
import { DELETION_POLICIES, type DeletionPolicy, type KubeConfigSetting } from '../flux/apply-settings.ts'
import type { Json } from '../kube/node.ts'
import { groupOf, type ObjectId } from '../kube/object.ts'
import { type ClusterClient, METADATA_ONLY } from './client.ts'
import { itemsAt, jsonAt, stringAt } from './json.ts'

/** One applied object. `id` and `v` as Flux writes them; `uid` of the live object where this owner made or adopted it. */
export interface InventoryEntry {
  /** `<namespace>_<name>_<group>_<kind>`. */
  readonly id: string
  readonly v: string
  readonly uid?: string
}

const RBAC = 'rbac.authorization.k8s.io'

/**
 * Flux's id of an object (fluxcd/cli-utils object.ObjMetadata): `:` in the name of an RBAC object is written `__`.
 * Throws `cluster-invalid` for a name that could not be read back.
 */
export function entryOf(id: ObjectId): InventoryEntry {
  const group = groupOf(id.apiVersion)
  const name = group === RBAC ? id.name.replaceAll(':', '__') : id.name
  const entry = {
    id: `${id.namespace}_${name}_${group}_${id.kind}`,
    v: id.apiVersion.slice(id.apiVersion.indexOf('/') + 1),
  }
  const back = idOfEntry(entry)
  if (back.name === id.name && back.namespace === id.namespace && back.kind === id.kind) return entry
  throw new BailiwickError(
    'cluster-invalid',
    `an inventory cannot hold the name ${JSON.stringify(id.name)} of ${id.kind}`,
    {
      fix: 'Choose a name without "__".',
    },
  )
}

/** The object that an entry names. Throws `cluster-invalid` where the id is not of Flux's form. */
export function idOfEntry({ id, v }: Pick<InventoryEntry, 'id' | 'v'>): ObjectId {
  const parts = /^([^_]*)_(.+)_([^_]*)_([^_]+)$/s.exec(id)
  if (!parts || !v)
    throw new BailiwickError('cluster-invalid', `${JSON.stringify(id)} is not an id of an inventory entry`)
  const [, namespace, name, group, kind] = parts as unknown as [string, string, string, string, string]
  return {
    apiVersion: group ? `${group}/${v}` : v,
    kind,
    namespace,
    name: group === RBAC ? name.replaceAll('__', ':') : name,
  }
}

/** Entries of both lists, each id once; version and uid of the later list win. Sorted by id. */
export function unionEntries(...lists: readonly (readonly InventoryEntry[])[]): InventoryEntry[] {
  const found = new Map<string, InventoryEntry>()
  for (const entry of lists.flat()) found.set(entry.id, { ...found.get(entry.id), ...entry })
  return [...found.values()].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
}

/** A ConfigMap holds 1 MiB; the rest is for its metadata. */
const MAX_BYTES = 900 * 1024
const MAX_JSON_BYTES = 64 * 1024 * 1024
const PAGE = '50'
const METADATA_PAGE = '5000'
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
/** As many are rather read as pages. */
const MANY = 10
const MANAGED_BY = 'app.kubernetes.io/managed-by'
const CLUSTER = 'bailiwick.dev/cluster'
const PLAIN = 'inventory.json'
const PACKED = 'inventory.json.gz'

/** Where a kubeConfig led when the node was applied last. */
export interface InventoryTarget extends KubeConfigSetting {
  /** As which it was evaluated. */
  readonly cluster: string
  /** Address of the API server. */
  readonly server: string
}

/** What a node has on a cluster, and as whom. */
interface InventoryContent {
  /** `<cluster>/<namespace>/<name>` of the Kustomization. */
  readonly node: string
  readonly parent: string | null
  /** The identity that applied and that would prune. */
  readonly user: string
  readonly prune: boolean
  /** What becomes of the entries when the Kustomization is removed. */
  readonly deletionPolicy: DeletionPolicy
  /** Where the entries are; absent: on the cluster of the inventory itself. */
  readonly target?: InventoryTarget
  readonly entries: readonly InventoryEntry[]
  /** `<branch>@sha1:<commit>` as last applied completely; '' before that. */
  readonly revision: string
  readonly digest: string
  readonly revisionSet: string
  /** The cluster holds what has `digest`, and nothing else of this node is left to be pruned. */
  readonly settled: boolean
}

/** `resourceVersion` is the fence: '' for an inventory that is not stored yet. */
export interface Inventory extends InventoryContent {
  readonly cluster: string
  readonly uid: string
  readonly resourceVersion: string
}

/** An inventory of a node that has none yet; stored by its first claim. */
export function newInventory(cluster: string, node: string, user: string): Inventory {
  const content = { node, parent: null, user, prune: false, entries: [], revision: '', digest: '', revisionSet: '' }
  return { ...content, deletionPolicy: 'MirrorPrune', settled: false, cluster, uid: '', resourceVersion: '' }
}

/**
 * Every inventory of a cluster; of those that are `known`, only what changed since is read. Throws `cluster-invalid` for one
 * that cannot be read, naming it: pruning must not guess.
 */
export async function readInventories(
  client: ClusterClient,
  cluster: string = client.name,
  known: ReadonlyMap<string, Inventory> = new Map(),
): Promise<Inventory[]> {
  const kept = known.size === 0 ? undefined : await unchanged(client, cluster, known)
  const found = kept ?? (await pages(client, cluster, PAGE)).map(item => parseInventory(item, cluster))
  return found.sort((a, b) => (a.node < b.node ? -1 : 1))
}

/** What is known, with the few that changed; undefined where those are many. */
async function unchanged(
  client: ClusterClient,
  cluster: string,
  known: ReadonlyMap<string, Inventory>,
): Promise<Inventory[] | undefined> {
  const stored = await pages(client, cluster, METADATA_PAGE, METADATA_LIST)
  const byName = new Map([...known.values()].map(inventory => [inventoryName(inventory.node), inventory]))
  const found: Inventory[] = []
  const others: string[] = []
  for (const object of stored) {
    const name = stringAt(object, 'metadata', 'name')
    const inventory = byName.get(name)
    const isSame =
      inventory?.uid === stringAt(object, 'metadata', 'uid') &&
      inventory.resourceVersion === stringAt(object, 'metadata', 'resourceVersion')
    if (isSame) found.push(inventory)
    else others.push(name)
  }
  if (others.length > MANY) return undefined
  for (const name of others) {
    const { status, body } = await client.request('worker', 'GET', `${collection(client)}/${name}`)
    if (status !== 404) found.push(parseInventory(body, cluster))
  }
  return found
}

async function pages(client: ClusterClient, cluster: string, limit: string, accept?: string): Promise<Json[]> {
  const found: Json[] = []
  let next = ''
  do {
    const query = { labelSelector: `${MANAGED_BY}=bailiwick,${CLUSTER}=${cluster}`, limit }
    const { body } = await client.request('worker', 'GET', collection(client), {
      query: next ? { ...query, continue: next } : query,
      ...(accept === undefined ? {} : { accept }),
    })
    found.push(...itemsAt(body, 'items'))
    next = stringAt(body, 'metadata', 'continue')
  } while (next)
  return found
}

/**
 * Stores the inventory with `patch`, as the worker, if it still is what was read; returns what to claim with next time.
 * Each claim changes the object, so that of two workers one always loses. Throws `cluster-fenced` for the loser:
 * another worker has this node, stop. Where the answer is lost, the stored inventory shows whose write it holds.
 */
export async function claim(
  client: ClusterClient,
  inventory: Inventory,
  patch: Partial<Omit<InventoryContent, 'node'>> = {},
): Promise<Inventory> {
  const { uid, resourceVersion, cluster, ...before } = inventory
  const content: InventoryContent = { ...before, ...patch }
  const id = randomUUID()
  const data = pack(content, id)
  let at = { uid, resourceVersion }
  for (let attempt = 1; ; attempt++) {
    try {
      const written = await store(client, cluster, content.node, at, data)
      return { ...content, cluster, ...written }
    } catch (error) {
      if (!(error instanceof BailiwickError) || !ASKS_WHOSE.includes(error.code)) throw error
      remember(id)
      const found = await readClaim(client, content.node)
      if (found?.id === id) return { ...content, cluster, uid: found.uid, resourceVersion: found.resourceVersion }
      if (error.code === 'cluster-unavailable') throw error
      // an earlier write of this process, which arrived after we stopped waiting for it
      if (found === undefined || !unanswered.has(found.id) || attempt > 1) throw fence(content.node, error)
      at = found
    }
  }
}

/** After these errors the write may have happened all the same. */
const ASKS_WHOSE: readonly ErrorCode[] = ['cluster-unavailable', 'cluster-conflict']
/** Claims of this process that were sent and never answered; the oldest are forgotten. */
const unanswered = new Set<string>()
const MAX_UNANSWERED = 1000

function remember(id: string): void {
  unanswered.add(id)
  const [oldest] = unanswered
  if (unanswered.size > MAX_UNANSWERED && oldest !== undefined) unanswered.delete(oldest)
}

type Version = Pick<Inventory, 'uid' | 'resourceVersion'>

async function store(
  client: ClusterClient,
  cluster: string,
  node: string,
  { uid, resourceVersion }: Version,
  data: { readonly [key: string]: Json },
): Promise<Version> {
  const isStored = uid !== ''
  const name = inventoryName(node)
  const body: Json = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: client.namespace,
      labels: { [MANAGED_BY]: 'bailiwick', [CLUSTER]: cluster },
      annotations: { 'bailiwick.dev/node': node },
      ...(isStored ? { uid, resourceVersion } : {}),
    },
    ...data,
  }
  const path = isStored ? `${collection(client)}/${name}` : collection(client)
  const response = await client.request('worker', isStored ? 'PUT' : 'POST', path, { body, accept: METADATA_ONLY })
  if (response.status === 404) throw lostNamespaceOrFence(client, node, isStored)
  return versionOf(response.body)
}

/** What is stored of a node, and by which claim; undefined where nothing is that can be read. */
async function readClaim(
  client: ClusterClient,
  node: string,
): Promise<(Version & { readonly id: string }) | undefined> {
  const { status, body } = await client.request('worker', 'GET', `${collection(client)}/${inventoryName(node)}`)
  if (status === 404) return undefined
  try {
    return { id: stringAt(readContent(body), 'claim'), ...versionOf(body) }
  } catch {
    return undefined
  }
}

function versionOf(object: Json): Version {
  return {
    uid: stringAt(object, 'metadata', 'uid'),
    resourceVersion: stringAt(object, 'metadata', 'resourceVersion'),
  }
}

/** Forgets a node that has nothing left on the cluster. Throws `cluster-fenced` after another write. */
export async function removeInventory(client: ClusterClient, inventory: Inventory): Promise<void> {
  if (inventory.uid === '') return
  const { uid, resourceVersion } = inventory
  await client
    .request('worker', 'DELETE', `${collection(client)}/${inventoryName(inventory.node)}`, {
      body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } },
    })
    .catch((error: unknown) => {
      throw error instanceof BailiwickError && error.code === 'cluster-conflict' ? fence(inventory.node, error) : error
    })
}

/** Name of the ConfigMap of a node. */
export function inventoryName(node: string): string {
  return `bailiwick-inventory-${createHash('sha256').update(node).digest('hex').slice(0, 40)}`
}

function collection(client: ClusterClient): string {
  return `/api/v1/namespaces/${client.namespace}/configmaps`
}

function fence(node: string, cause: BailiwickError): BailiwickError {
  return new BailiwickError('cluster-fenced', `the inventory of ${node} was changed by another writer meanwhile`, {
    cause,
  })
}

function lostNamespaceOrFence(client: ClusterClient, node: string, stored: boolean): BailiwickError {
  if (stored)
    return new BailiwickError('cluster-fenced', `the inventory of ${node} was deleted by another client meanwhile`)
  return new BailiwickError('cluster-invalid', `cluster ${client.name} has no namespace ${client.namespace}`, {
    fix: 'Apply deploy/worker-rbac.yaml to the cluster, or correct `namespace` in clusters.yaml.',
  })
}

/** Readable as long as it fits; about 100,000 entries fit packed. */
function pack(content: InventoryContent, claim: string): { [key: string]: Json } {
  const text = JSON.stringify({ ...content, claim })
  if (Buffer.byteLength(text) <= MAX_BYTES) return { data: { [PLAIN]: text } }
  const packed = gzipSync(text).toString('base64')
  if (packed.length <= MAX_BYTES) return { binaryData: { [PACKED]: packed } }
  const count = content.entries.length
  throw new BailiwickError('cluster-invalid', `${content.node}: ${count} objects do not fit into one inventory`, {
    fix: 'Split the Kustomization into several.',
  })
}

function readContent(object: Json): Json {
  const packed = stringAt(object, 'binaryData', PACKED)
  const unpacked = packed && gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_JSON_BYTES }).toString()
  return JSON.parse(unpacked || stringAt(object, 'data', PLAIN))
}

function parseInventory(object: Json, cluster: string): Inventory {
  const name = stringAt(object, 'metadata', 'name')
  try {
    const content = readContent(object)
    const node = stringAt(content, 'node')
    if (inventoryName(node) !== name) throw new Error(`it holds the node ${JSON.stringify(node)}`)
    return {
      cluster,
      node,
      parent: stringAt(content, 'parent') || null,
      user: stringAt(content, 'user'),
      prune: jsonAt(content, 'prune') === true,
      deletionPolicy: readPolicy(stringAt(content, 'deletionPolicy')),
      ...readTarget(jsonAt(content, 'target')),
      entries: itemsAt(content, 'entries').map(parseEntry),
      revision: stringAt(content, 'revision'),
      digest: stringAt(content, 'digest'),
      revisionSet: stringAt(content, 'revisionSet'),
      settled: jsonAt(content, 'settled') === true,
      ...versionOf(object),
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new BailiwickError('cluster-invalid', `inventory ${name} on cluster ${cluster} cannot be read: ${reason}`, {
      cause,
      fix: 'Restore the ConfigMap. Without it, what was applied cannot be pruned.',
    })
  }
}

/** An inventory of an earlier version has none. One that is not known must not delete what it may protect. */
function readPolicy(text: string): DeletionPolicy {
  const policy = DELETION_POLICIES.find(one => one === (text || 'MirrorPrune'))
  if (policy === undefined) throw new Error(`it holds the deletion policy ${JSON.stringify(text)}`)
  return policy
}

/** What was applied elsewhere must not be looked for here. */
function readTarget(target: Json | undefined): Pick<InventoryContent, 'target'> {
  if (target === undefined) return {}
  const [name, key, cluster, server] = ['name', 'key', 'cluster', 'server'].map(field => stringAt(target, field))
  const kind = (['Secret', 'ConfigMap'] as const).find(one => one === stringAt(target, 'kind'))
  if (kind === undefined || !name || !cluster || !server) throw new Error('it holds a target that is none')
  return { target: { kind, name, key: key!, cluster, server } }
}

function parseEntry(json: Json): InventoryEntry {
  const uid = stringAt(json, 'uid')
  const entry = { id: stringAt(json, 'id'), v: stringAt(json, 'v'), ...(uid ? { uid } : {}) }
  idOfEntry(entry)
  return entry
}
