import type { FleetNode, Identity } from '../fleet/model/fleet.ts'
import { accountOf } from '../kube/rbac/groups-of.ts'
import { type Counts, NO_COUNTS, type NodeChange, type ObjectChange } from './changes.ts'
import type { FleetComparison, NodePair } from './compare-fleets.ts'
import { ImageChanges } from './image-changes.ts'
import { isStateless, movedNamespaces } from './moved-namespaces.ts'
import { addedObject, changedObject } from './object-change.ts'
import type { ObjectPair } from './pair-objects.ts'
import type { Room } from './room.ts'
import type { SecretWords } from './secret-words.ts'

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
    // counted without its fields once there is no room for them
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
