import { type Fleet, type FleetNode, nodesByKey } from '../../fleet/model/fleet.ts'
import { objectTexts, sameButObjects } from '../../fleet/model/same-node.ts'
import { KUSTOMIZE_GROUP } from '../../kube/flux-kinds.ts'
import { at, isTrue, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject, type ObjectId } from '../../kube/object.ts'
import type { Fate } from './changes.ts'
import { generatedBase } from './secret-words.ts'

/** A Kustomization that is another one, or renders something else. */
export interface NodePair {
  readonly key: string
  readonly was?: FleetNode
  readonly now?: FleetNode
  /** The side whose objects are not known; then there are no pairs. */
  readonly unknown?: 'before' | 'after'
  readonly objects: readonly ObjectPair[]
}

/** Two states of a fleet side by side. Nodes that are the same in both are never looked into. */
export class FleetComparison {
  readonly base: Fleet
  readonly head: Fleet
  readonly pairs: readonly NodePair[]
  readonly #before: ReadonlyMap<string, FleetNode>
  readonly #after: ReadonlyMap<string, FleetNode>
  /** Who renders an object now that did not before, and the other way round. */
  readonly #added = new Map<string, string>()
  readonly #removed = new Map<string, { readonly node: string; readonly pair: ObjectPair }>()

  constructor(base: Fleet, head: Fleet) {
    this.base = base
    this.head = head
    this.#before = nodesByKey(base.nodes)
    this.#after = nodesByKey(head.nodes)
    const keys = [...new Set([...this.#before.keys(), ...this.#after.keys()])]
    this.pairs = keys.flatMap(key => this.#pair(key)).sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
    for (const { key, was, now, objects } of this.pairs) {
      for (const pair of objects) {
        const place = placeOf((now ?? was)!.cluster, pair)
        if (!pair.was) this.#added.set(place, key)
        if (!pair.now) this.#removed.set(place, { node: key, pair })
      }
    }
  }

  /** The other Kustomization of the cluster that renders an object which this one no longer does. */
  movedTo(cluster: string, pair: ObjectPair): string | undefined {
    return this.#added.get(placeOf(cluster, pair))
  }

  /** Which other one had an object that is new here, and as what. */
  movedFrom(cluster: string, pair: ObjectPair): { readonly node: string; readonly pair: ObjectPair } | undefined {
    return this.#removed.get(placeOf(cluster, pair))
  }

  /** What becomes of an object that a node no longer renders. */
  fateOf({ was, now }: NodePair, pair: ObjectPair): Fate {
    if (this.movedTo(was!.cluster, pair) !== undefined) return 'moved'
    // with another kubeConfig Flux looks for the same objects on the other cluster, and leaves these alone
    if (!now && this.#after.has(was!.key)) return 'orphaned'
    return now ? fateIn(now, pair.was!) : fateWithout(was!, pair.was!, this.#fateOfNode(was!))
  }

  /** What becomes of a Kustomization that is gone. */
  #fateOfNode(node: FleetNode): Fate {
    const parent = node.parent === undefined ? undefined : this.#before.get(node.parent)
    if (!parent) return 'kept'
    const now = this.#after.get(parent.key)
    return now ? fateIn(now, node.kustomization) : fateWithout(parent, node.kustomization, this.#fateOfNode(parent))
  }

  #pair(key: string): NodePair[] {
    const [was, now] = [this.#before.get(key), this.#after.get(key)]
    if (was === now) return []
    if (was && now && was.cluster === now.cluster) return this.#both(key, was, now)
    // the other cluster gets all of it, and the one before gets nothing more
    if (was && now) return [sidesOf(key, was, undefined), sidesOf(key, undefined, now)]
    const [one, others, lost] = was ? ([was, this.#after, 'after'] as const) : ([now!, this.#before, 'before'] as const)
    const above = this.#nearest(one, was ? this.#before : this.#after, others)
    // a cluster that is removed or renamed is shown as such
    if (!above && (was || !this.#isOfNewCluster(one))) return []
    if (above && isUnknown(above)) return was ? [] : [{ ...sidesOf(key, was, now), unknown: lost, objects: [] }]
    return [sidesOf(key, was, now)]
  }

  #both(key: string, was: FleetNode, now: FleetNode): NodePair[] {
    if (isUnknown(was) && isUnknown(now)) return []
    const pair = sidesOf(key, was, now)
    const isOther = was.identity.user !== now.identity.user || was.suspend !== now.suspend || was.prune !== now.prune
    return pair.unknown || pair.objects.length > 0 || (isOther && !sameButObjects(was, now)) ? [pair] : []
  }

  /** Whether a cluster is there by the change, and is not one of before by another name. */
  #isOfNewCluster({ cluster }: FleetNode): boolean {
    const path = this.head.clusters.find(({ name }) => name === cluster)?.path
    const names = new Set(this.head.clusters.map(({ name }) => name))
    return this.base.clusters.every(one => one.name !== cluster && (one.path !== path || names.has(one.name)))
  }

  /** The nearest node above that the other side has. */
  #nearest(
    node: FleetNode,
    own: ReadonlyMap<string, FleetNode>,
    others: ReadonlyMap<string, FleetNode>,
  ): FleetNode | undefined {
    for (let key = node.parent; key !== undefined; key = own.get(key)?.parent) {
      const found = others.get(key)
      if (found) return found
    }
    return undefined
  }
}

/** A Kustomization before and after, with the objects that differ, as far as both sides are known. */
function sidesOf(key: string, was: FleetNode | undefined, now: FleetNode | undefined): NodePair {
  const sides = { key, ...(was ? { was } : {}), ...(now ? { now } : {}) }
  if (was && isUnknown(was)) return { ...sides, unknown: 'before', objects: [] }
  if (now && isUnknown(now)) return { ...sides, unknown: 'after', objects: [] }
  const isSame = was && now && (was.objects === now.objects || (was.digest !== '' && was.digest === now.digest))
  const objects = isSame ? [] : pairObjects(was?.objects ?? [], now?.objects ?? [])
  if (!lacksMore(was, now)) return { ...sides, objects }
  // what is not there may only not have been read
  return { ...sides, unknown: 'after', objects: objects.filter(one => one.now !== undefined) }
}

/** Whether a part is newly left out of what Flux would build. */
function lacksMore(was: FleetNode | undefined, now: FleetNode | undefined): boolean {
  const known = new Set(was?.holes?.map(({ hides }) => hides))
  return now?.holes?.some(({ hides, remote }) => remote === undefined && !known.has(hides)) === true
}

const isUnknown = ({ error, source }: FleetNode): boolean => error !== undefined || source.opaque !== undefined

const placeOf = (cluster: string, { id }: ObjectPair): string => `${cluster}\0${objectKey(id)}`

/** By cluster, the platform before tenants, then by key. */
function orderOf({ was, now }: NodePair): string {
  const { cluster, tenant, key } = (now ?? was)!
  return [cluster, tenant ?? '', key].join('\0')
}

/** An object before and after; only one of them where it is added or removed. */
export interface ObjectPair {
  readonly id: ObjectId
  readonly was?: KubeObject
  readonly now?: KubeObject
}

/** Group, kind, namespace and name: the version does not identify an object. */
function objectKey({ apiVersion, kind, namespace, name }: ObjectId): string {
  return [groupOf(apiVersion), kind, namespace, name].join('\0')
}

/**
 * The objects of two renderings that differ, by kind, namespace and name. A ConfigMap or Secret whose name has the hash of
 * its content is the same one with another hash.
 */
function pairObjects(before: readonly KubeObject[], after: readonly KubeObject[]): ObjectPair[] {
  // both were written to be hashed already
  const [oldTexts, youngTexts] = [objectTexts(before), objectTexts(after)]
  const [known, present] = [new Set(oldTexts), new Set(youngTexts)]
  const old = byKey(before.filter((_, at) => !present.has(oldTexts[at]!)))
  const young = byKey(after.filter((_, at) => !known.has(youngTexts[at]!)))
  const pairs: ObjectPair[] = []
  for (const [key, was] of old) {
    const now = young.get(key)
    if (now) pairs.push({ id: idOf(now), was, now })
  }
  const gone = [...old].filter(([key]) => !young.has(key)).map(([, object]) => object)
  const come = [...young].filter(([key]) => !old.has(key)).map(([, object]) => object)
  pairs.push(...pairGenerated(gone, come))
  return pairs.sort((a, b) => (sortKey(a.id) < sortKey(b.id) ? -1 : 1))
}

function pairGenerated(gone: readonly KubeObject[], come: readonly KubeObject[]): ObjectPair[] {
  const [old, young] = [Map.groupBy(gone, generatorKey), Map.groupBy(come, generatorKey)]
  const pairs: ObjectPair[] = []
  for (const [key, objects] of old) {
    const others = young.get(key) ?? []
    const isOne = key !== undefined && objects.length === 1 && others.length === 1
    if (isOne) pairs.push({ id: plainId(others[0]!), was: objects[0]!, now: others[0]! })
    else pairs.push(...objects.map(was => ({ id: plainId(was), was })))
    if (isOne) young.delete(key)
  }
  pairs.push(...[...young.values()].flat().map(now => ({ id: plainId(now), now })))
  return pairs
}

function generatorKey(object: KubeObject): string | undefined {
  const id = idOf(object)
  const base = isGenerated(id) ? generatedBase(id.name) : undefined
  return base === undefined ? undefined : objectKey({ ...id, name: base })
}

/** The id of an object without the hash of what it holds. */
function plainId(object: KubeObject): ObjectId {
  const id = idOf(object)
  const base = isGenerated(id) ? generatedBase(id.name) : undefined
  return base === undefined ? id : { ...id, name: `${base}-*` }
}

const isGenerated = ({ apiVersion, kind }: ObjectId): boolean =>
  apiVersion === 'v1' && (kind === 'ConfigMap' || kind === 'Secret')

const byKey = (objects: readonly KubeObject[]): Map<string, KubeObject> =>
  new Map(objects.map(object => [objectKey(idOf(object)), object]))

const sortKey = ({ kind, namespace, name, apiVersion }: ObjectId): string =>
  [kind, namespace, name, apiVersion].join('\0')

/**
 * What Flux does with an object that a Kustomization no longer renders. Source: fluxcd/kustomize-controller, prune of the
 * reconciler and its exclusions (labels and annotations alike, values without regard to case).
 */
function fateIn(node: Pick<FleetNode, 'prune' | 'suspend'>, object: KubeObject): Fate {
  if (isKept(object)) return 'kept'
  if (node.suspend) return 'suspended'
  return node.prune ? 'deleted' : 'orphaned'
}

/**
 * What Flux does with an object when its Kustomization is gone: `own` is what becomes of that. Its finalizer deletes by
 * `spec.deletionPolicy`, which follows `prune` where it says nothing else, and nothing while it is suspended.
 */
function fateWithout(node: FleetNode, object: KubeObject, own: Fate): Fate {
  if (isKept(object)) return 'kept'
  if (own !== 'deleted') return own
  const policy = stringAt(node.kustomization.root, ['spec', 'deletionPolicy']) ?? 'MirrorPrune'
  if (node.suspend || policy === 'Orphan') return 'orphaned'
  return policy !== 'MirrorPrune' || node.prune ? 'deleted' : 'orphaned'
}

/** Whether Flux deletes an object of the cluster and makes it anew where a change of it is refused. */
export function isForced(node: FleetNode, object: KubeObject): boolean {
  const force = at(node.kustomization.root, ['spec', 'force'])
  return isTrue(force) || says(object, 'force', 'enabled')
}

const isKept = (object: KubeObject): boolean =>
  says(object, 'prune', 'disabled') || says(object, 'reconcile', 'disabled') || says(object, 'ssa', 'ignore')

function says(object: KubeObject, name: string, value: string): boolean {
  return ['labels', 'annotations'].some(
    part => stringAt(object.root, ['metadata', part, `${KUSTOMIZE_GROUP}/${name}`])?.toLowerCase() === value,
  )
}
