import { visible } from '../../base/visible.ts'
import type { FleetNode, Identity } from '../../fleet/model/fleet.ts'
import { stringAt } from '../../kube/node.ts'
import { display, groupOf, idOf, type KubeObject, type ObjectId } from '../../kube/object.ts'
import { accountOf } from '../../kube/rbac/policy-rule.ts'
import { schemaOfObject } from '../../kustomize/patch/merge-schema.ts'
import { immutableChanges } from '../../schema/immutable-changes.ts'
import { type Counts, type ImageChange, NO_COUNTS, type NodeChange, type ObjectChange, type Room } from './changes.ts'
import { type FleetComparison, isForced, type NodePair, type ObjectPair } from './compare-fleets.ts'
import { diffNodes, type Operation, UNSEALED } from './diff-nodes.ts'
import { fieldChanges, valueText } from './field-changes.ts'
import { generatedBase, type SecretWords } from './secret-words.ts'

/** What a change does to one Kustomization; undefined where nothing of it means anything to the cluster. */
export function nodeChange(
  pair: NodePair,
  fleets: FleetComparison,
  words: SecretWords,
  room: Room,
): NodeChange | undefined {
  const { was, now, unknown } = pair
  const node = (now ?? was)!
  const collected = new CollectedChanges(pair, fleets, words, room)
  for (const one of pair.objects) collected.add(one)
  const identity =
    was && now && was.identity.user !== now.identity.user
      ? { was: userText(was.identity), now: userText(now.identity) }
      : undefined
  const isSame = was && now && collected.isEmpty && !identity && was.suspend === now.suspend && was.prune === now.prune
  if (isSame && unknown === undefined) return undefined
  return {
    node: pair.key,
    cluster: node.cluster,
    namespace: node.namespace,
    name: node.name,
    tenant: node.tenant ?? '',
    sources: [...new Set([was, now].flatMap(sourcesOf))].sort(),
    change: was ? (now ? 'changed' : 'removed') : 'added',
    ...(unknown ? { unknown } : {}),
    suspended: node.suspend,
    prune: node.prune,
    ...(identity ? { identity } : {}),
    counts: collected.counts,
    objects: collected.objects,
    images: collected.images.list(),
  }
}

function sourcesOf(node: FleetNode | undefined): string[] {
  if (!node) return []
  return [node.source, ...(node.source.includes ?? []), ...(node.charts ?? [])].map(({ url }) => url)
}

class CollectedChanges {
  readonly objects: ObjectChange[] = []
  readonly images = new ImageChanges()
  readonly #counts = { ...NO_COUNTS }
  readonly #pair: NodePair
  readonly #fleets: FleetComparison
  readonly #words: SecretWords
  readonly #room: Room
  /** Objects in another namespace than before, and what is gone in its favor. */
  readonly #moves: ReadonlyMap<ObjectPair, ObjectPair>
  readonly #moved: ReadonlySet<ObjectPair>

  constructor(pair: NodePair, fleets: FleetComparison, words: SecretWords, room: Room) {
    this.#pair = pair
    this.#moves = movedNamespaces(pair, fleets)
    this.#moved = new Set(this.#moves.values())
    this.#fleets = fleets
    this.#words = words
    this.#room = room
  }

  get counts(): Counts {
    return this.#counts
  }

  get isEmpty(): boolean {
    return Object.values(this.#counts).every(count => count === 0)
  }

  add(one: ObjectPair): void {
    const change = this.#changeOf(one)
    if (!change) return
    this.#counts[change.change]++
    if (change.fate === 'deleted') this.#counts.deleted++
    const taken = this.#room.take(change)
    if (taken) this.objects.push(taken)
  }

  #changeOf(one: ObjectPair): ObjectChange | undefined {
    if (this.#moved.has(one)) return undefined
    const { id, was, now } = one
    const { cluster } = (this.#pair.now ?? this.#pair.was)!
    if (!now) {
      const fate = this.#fleets.fateOf(this.#pair, one)
      const node = fate === 'moved' ? this.#fleets.movedTo(cluster, one) : undefined
      return { id, change: 'removed', fate, ...(node === undefined ? {} : { node }), fields: [], fieldCount: 0 }
    }
    if (was) return this.#compared(one)
    const from = this.#fleets.movedFrom(cluster, one)
    if (from) {
      const compared = this.#compared({ id, was: from.pair.was!, now })
      return { ...(compared ?? { id, fields: [], fieldCount: 0 }), change: 'moved', node: from.node }
    }
    const before = this.#moves.get(one)
    if (before) return this.#movedFrom(before, one)
    // counted without its fields once the room is used up
    return this.#room.isOpen ? addedObject(one, this.#words) : { id, change: 'added', fields: [], fieldCount: 0 }
  }

  #movedFrom(before: ObjectPair, { id, now }: ObjectPair): ObjectChange {
    const compared = this.#compared({ id, was: before.was!, now: now! })
    const fields = (compared?.fields ?? []).filter(({ path }) => path !== 'metadata.namespace')
    const left = (compared?.fieldCount ?? 0) - (compared?.fields.length ?? 0)
    return {
      ...{ id, change: 'moved', from: before.id.namespace, fields, fieldCount: fields.length + left },
      ...(isStateless(id, before.was!) ? {} : { fate: 'deleted' }),
    }
  }

  #compared(one: ObjectPair): ObjectChange | undefined {
    if (!this.#room.isOpen) return { id: one.id, change: 'changed', fields: [], fieldCount: 0 }
    const found = changedObject(one, this.#pair.now!, this.#words)
    if (found) this.images.add(one.id, found.operations, this.#words)
    return found?.change
  }
}

/** Who applies something, for people: `ServiceAccount apps/dev-team`. */
function userText({ user, impersonated }: Identity): string {
  if (!impersonated) return "Flux's controller itself (cluster-admin)"
  const account = accountOf(user)
  return account ? `ServiceAccount ${account.namespace}/${account.name}` : `User ${user}`
}

/** The identity of an object, whatever it holds. */
const NAMED = new Set(['apiVersion', 'kind', 'metadata.name', 'metadata.namespace'])

/** An object that one Kustomization renders now. */
function addedObject({ id, now }: ObjectPair, words: SecretWords): ObjectChange {
  const whole = { path: [], now: now!.root, sealing: UNSEALED }
  const fields = fieldChanges([whole], words).filter(
    field => !NAMED.has(field.path) && !field.path.startsWith('status'),
  )
  return { id, change: 'added', fields, fieldCount: fields.length }
}

/** An object that both renderings have; undefined where what differs means nothing to the cluster. */
function changedObject(
  { id, was, now }: ObjectPair,
  node: FleetNode,
  words: SecretWords,
): { readonly change: ObjectChange; readonly operations: readonly Operation[] } | undefined {
  const { apiVersion, kind } = idOf(now!)
  const isGenerated = generatedBase(idOf(was!).name) !== undefined
  const operations = diffNodes(was!.root, now!.root, schemaOfObject(apiVersion, kind)).filter(
    one => !isNoise(one) && !(isGenerated && one.path[0] === 'metadata' && one.path[1] === 'name'),
  )
  if (operations.length === 0) return undefined
  const fields = fieldChanges(operations, words)
  const isReplaced = immutableChanges(`${groupOf(apiVersion)}/${kind}`, was!.root, now!.root).length > 0
  const forced = isForced(node, now!)
  const change: ObjectChange = {
    id,
    ...(isReplaced ? { change: 'replaced', forced } : { change: 'changed' }),
    fields,
    fieldCount: fields.length,
  }
  return { change, operations }
}

/** What Flux drops before it applies, or the API server writes itself (fluxcd/pkg ssa/normalize). */
const METADATA = new Set(['creationTimestamp', 'generation', 'managedFields', 'resourceVersion', 'selfLink', 'uid'])
const ANNOTATIONS =
  /^(?:kubectl\.kubernetes\.io\/last-applied-configuration$|kustomize\.toolkit\.fluxcd\.io\/checksum$|fluxcd\.io\/sync-|(?:internal\.)?config\.kubernetes\.io\/)/

/** Whether a difference means nothing to the cluster. */
function isNoise({ path, was, now }: Operation): boolean {
  const [first, second, third] = path
  if (first === 'status' || first === 'sops') return true
  if (first !== 'metadata') return false
  if (typeof second === 'string' && METADATA.has(second)) return true
  if (second !== 'annotations' && second !== 'labels') return false
  if (typeof third === 'string') return second === 'annotations' && ANNOTATIONS.test(third)
  const whole = was ?? now
  return path.length === 2 && !(was && now) && whole?.type === 'map' && [...whole.fields.keys()].every(isStripped)
}

const isStripped = (name: string): boolean => ANNOTATIONS.test(name)

/**
 * Objects of a node that only change their namespace, by what is new: each with what is gone. Only where one of a kind and
 * name is deleted and one is added; anything else is what it looks like.
 */
function movedNamespaces(pair: NodePair, fleets: FleetComparison): ReadonlyMap<ObjectPair, ObjectPair> {
  const cluster = (pair.now ?? pair.was)!.cluster
  const inNamespace = pair.objects.filter(({ id }) => id.namespace !== '')
  const gone = inNamespace.filter(one => !one.now && fleets.fateOf(pair, one) === 'deleted')
  const come = Map.groupBy(
    inNamespace.filter(one => !one.was && fleets.movedFrom(cluster, one) === undefined),
    nameKey,
  )
  const moves = new Map<ObjectPair, ObjectPair>()
  for (const [key, before] of Map.groupBy(gone, nameKey)) {
    const after = come.get(key) ?? []
    if (before.length === 1 && after.length === 1) moves.set(after[0]!, before[0]!)
  }
  return moves
}

const nameKey = ({ id }: ObjectPair) => [groupOf(id.apiVersion), id.kind, id.name].join('\0')

/** Kinds that are the same again once they are made anew: nothing is kept in them, or by what a controller makes of them. */
const STATELESS: ReadonlySet<string> = new Set([
  ...['ConfigMap', 'Secret', 'ServiceAccount', 'Service', 'LimitRange', 'ResourceQuota'].map(kind => `/${kind}`),
  ...['Deployment', 'DaemonSet'].map(kind => `apps/${kind}`),
  'autoscaling/HorizontalPodAutoscaler',
  'batch/CronJob',
  'policy/PodDisruptionBudget',
  ...['Ingress', 'NetworkPolicy'].map(kind => `networking.k8s.io/${kind}`),
  ...['Role', 'RoleBinding'].map(kind => `rbac.authorization.k8s.io/${kind}`),
])

/** Whether nothing is lost when an object is deleted and made anew in another namespace. A load balancer gets another address. */
function isStateless({ apiVersion, kind }: ObjectId, object: KubeObject): boolean {
  if (!STATELESS.has(`${groupOf(apiVersion)}/${kind}`)) return false
  return kind !== 'Service' || stringAt(object.root, ['spec', 'type']) !== 'LoadBalancer'
}

const CONTAINERS = new Set(['containers', 'initContainers', 'ephemeralContainers'])

/** Collects which image of containers becomes which other one, and where. */
class ImageChanges {
  readonly #found = new Map<string, { was: string; now: string; objects: string[] }>()

  add(id: ObjectId, operations: readonly Operation[], words: SecretWords): void {
    for (const { path, was, now } of operations) {
      const isImage = path.at(-1) === 'image' && CONTAINERS.has(String(path.at(-3)))
      const [old, young] = [was && valueText(was, words), now && valueText(now, words)]
      if (!isImage || old === undefined || young === undefined) continue
      const key = `${old}\0${young}`
      const image = this.#found.get(key) ?? { was: old, now: young, objects: [] }
      const name = visible(display(id), 200)
      if (!image.objects.includes(name)) image.objects.push(name)
      this.#found.set(key, image)
    }
  }

  list(): ImageChange[] {
    const of = ({ was, now }: ImageChange) => `${was}\0${now}`
    return [...this.#found.values()].sort((a, b) => (of(a) < of(b) ? -1 : 1))
  }
}
