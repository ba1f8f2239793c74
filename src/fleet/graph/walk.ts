import { BailiwickError } from '../../base/errors.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import type { Cluster, FleetNode } from '../model/fleet.ts'
import type { Retain } from '../model/input.ts'
import { CAPSULE_GROUP, readCapsuleTenants } from '../tenancy/capsule.ts'
import { type DeclaredTenancy, Tenancy } from '../tenancy/tenancy.ts'
import type { Need, NodeContext } from './node-values.ts'

/** One cluster as it is known so far. */
export interface Walk extends NodeContext {
  /** The namespace of Flux on this cluster. */
  readonly platform: string
  /** Who owns a Capsule Tenant. */
  readonly capsule: Set<string>
  readonly drafts: Map<string, Draft>
  /** Claims of the root's namespace, of other platform nodes, of tenants: worked off in this order. */
  readonly claims: readonly [Claim[], Claim[], Claim[]]
  readonly counts: Map<string, number>
  readonly blocked: BlockedClaims
  readonly waiting: WaitingClaims
  readonly unowned: UnownedObjects
  readonly remotes: RemoteClusters
  /** Keys of Kustomizations that are rendered now. */
  readonly claimed: Set<string>
  /** Nodes that did not build as a whole, until their last complete builds are recorded. */
  readonly incomplete: { readonly platform: Draft[]; readonly tenants: Draft[] }
  readonly retain: Retain | undefined
  /** How many objects ResourceSets may still make. */
  readonly sets: { left: number }
}

/** A node while the graph is built: what later objects show about it may still become its error. */
export type Draft = { -readonly [K in keyof FleetNode]: FleetNode[K] }

/** A Kustomization that a node renders and that is to become a node. */
export interface Claim {
  readonly kustomization: KubeObject
  readonly parent: Draft
}

/** Puts a claim where its turn is: the platform's before those of tenants. */
export function enqueue(walk: Walk, claim: Claim): void {
  const own = claim.parent.tenant === undefined
  const place = own ? (idOf(claim.kustomization).namespace === walk.platform ? 0 : 1) : 2
  walk.claims[place].push(claim)
}

/** Puts the claims where their turn is that waited for values of this id. */
export function releaseBlocked(walk: Walk, id: string | undefined): void {
  if (id !== undefined) for (const claim of walk.blocked.release(id)) enqueue(walk, claim)
}

/** Takes a step; what it refuses is an error of the node. */
export function attempt(draft: Draft, step: () => void): void {
  try {
    step()
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    draft.error ??= error
  }
}

/** Claims that cannot be opened before a source is known, in the order in which they came. */
export class WaitingClaims {
  readonly #waiting = new Map<Claim, { readonly source: string; readonly turn: number }>()
  readonly #bySource = new Map<string, Set<Claim>>()
  #turns = 0
  #ofPlatform = 0

  add(claim: Claim, source: string): void {
    this.#waiting.set(claim, { source, turn: this.#turns++ })
    this.#bySource.set(source, (this.#bySource.get(source) ?? new Set()).add(claim))
    if (claim.parent.tenant === undefined) this.#ofPlatform++
  }

  get hasPlatform(): boolean {
    return this.#ofPlatform > 0
  }

  /** Those that waited for one of these: each is opened again for its own source only, however many appear. */
  release(sources: readonly string[]): Claim[] {
    const claims = new Set(sources.flatMap(source => [...(this.#bySource.get(source) ?? [])]))
    const turnOf = (claim: Claim) => this.#waiting.get(claim)!.turn
    const inTurn = [...claims].sort((a, b) => turnOf(a) - turnOf(b))
    for (const claim of inTurn) this.#remove(claim)
    return inTurn
  }

  /** The first of those that are left: no node can render its source any more. */
  first(): Claim | undefined {
    const [claim] = this.#waiting.keys()
    if (claim) this.#remove(claim)
    return claim
  }

  /** What they wait for, each with those that do. */
  sources(): (readonly [id: string, claims: readonly Claim[]])[] {
    return [...this.#bySource].flatMap(([id, claims]) => (claims.size > 0 ? [[id, [...claims]] as const] : []))
  }

  #remove(claim: Claim): void {
    this.#bySource.get(this.#waiting.get(claim)!.source)?.delete(claim)
    this.#waiting.delete(claim)
    if (claim.parent.tenant === undefined) this.#ofPlatform--
  }
}

/** `platform`: only the platform can render what is missing. */
export type ProvidedBy = 'platform' | 'anybody'

interface Blocked {
  readonly id: string
  readonly among: Set<Claim>
}

/** Claims that cannot be rendered before a ConfigMap or Secret is. */
export class BlockedClaims {
  readonly #blocked = new Map<Claim, Blocked>()
  readonly #byId = new Map<string, Set<Claim>>()
  readonly #optional = { platform: new Set<Claim>(), anybody: new Set<Claim>() }
  readonly #needed = { platform: new Set<Claim>(), anybody: new Set<Claim>() }

  add(claim: Claim, { id, optional }: Need, side: ProvidedBy): void {
    const among = (optional ? this.#optional : this.#needed)[side]
    among.add(claim)
    this.#blocked.set(claim, { id, among })
    const waiting = this.#byId.get(id) ?? new Set()
    this.#byId.set(id, waiting.add(claim))
  }

  /** Those that waited for what is there now. */
  release(id: string): Claim[] {
    return this.remove([...(this.#byId.get(id) ?? [])])
  }

  /**
   * Those that go on without: nothing else is left that could render what they wait for. One at a time while something
   * optional is missing, for what it renders may be what others wait for; those that fail without, all at once.
   */
  giveUp(side: ProvidedBy): Claim[] {
    const [first] = this.#optional[side]
    return this.remove(first ? [first] : [...this.#needed[side]])
  }

  private remove(claims: Claim[]): Claim[] {
    for (const claim of claims) {
      const { id, among } = this.#blocked.get(claim)!
      this.#blocked.delete(claim)
      this.#byId.get(id)?.delete(claim)
      among.delete(claim)
    }
    return claims
  }
}

/** What a tenant renders into an unowned namespace. */
interface UnownedObject {
  readonly draft: Draft
  readonly object: KubeObject
}

/**
 * What tenants render into unowned namespaces. With Capsule a tenant may create the namespace in another
 * Kustomization than the one that fills it, and either may come first.
 */
export class UnownedObjects {
  readonly #waiting = new Map<string, UnownedObject[]>()

  /** Those of a tenant's objects that lie in its own namespaces; those in unowned namespaces wait. */
  own(draft: Draft, objects: readonly KubeObject[], owners: ReadonlyMap<string, string>): KubeObject[] {
    return objects.filter(object => {
      const { namespace } = idOf(object)
      const owner = owners.get(namespace)
      if (owner === undefined && namespace !== '') this.#add(namespace, { draft, object })
      return owner === draft.tenant
    })
  }

  /** What waited for the namespace and belongs to who has it now. */
  release(namespace: string, owners: ReadonlyMap<string, string>): UnownedObject[] {
    const owner = owners.get(namespace)
    const waiting = this.#waiting.get(namespace)
    if (owner === undefined || !waiting) return []
    this.#waiting.delete(namespace)
    return waiting.filter(({ draft }) => draft.tenant === owner)
  }

  #add(namespace: string, one: UnownedObject): void {
    const list = this.#waiting.get(namespace)
    if (list) list.push(one)
    else this.#waiting.set(namespace, [one])
  }
}

/**
 * The clusters to which a hub applies by kubeconfigs, each with namespaces and tenants of its own: nothing of them counts
 * on the hub. A Kustomization that is applied there is reconciled by the Flux of that cluster, so it becomes no node of the hub.
 */
export class RemoteClusters {
  readonly #tenancies = new Map<string, Tenancy>()
  readonly #declaredIn: (cluster: string) => DeclaredTenancy

  /** `declaredIn`: what the fleet's own file says about the namespaces of a cluster. */
  constructor(declaredIn: (cluster: string) => DeclaredTenancy) {
    this.#declaredIn = declaredIn
  }

  /** Takes note of what a node applies to its cluster. */
  add(draft: Draft): void {
    const tenancy = this.#tenancies.get(draft.cluster) ?? new Tenancy(this.#declaredIn(draft.cluster))
    this.#tenancies.set(draft.cluster, tenancy)
    const objects = [...draft.objects, ...(draft.retained ?? [])]
    const ofCapsule = objects.filter(object => groupOf(idOf(object).apiVersion) === CAPSULE_GROUP)
    if (ofCapsule.length > 0) tenancy.capsule.add(readCapsuleTenants(ofCapsule))
    for (const object of objects) {
      const { apiVersion, kind } = idOf(object)
      if (kind !== 'Namespace' || groupOf(apiVersion) !== '') continue
      try {
        tenancy.declare(object)
      } catch (error) {
        if (!(error instanceof BailiwickError)) throw error
        draft.error ??= error
      }
    }
  }

  /** All of them by name, once nothing more is added. The flags are those of the controllers that apply: the hub's. */
  settled(hub: Pick<Cluster, 'name' | 'path' | 'how' | 'lockdown'>): Cluster[] {
    const names = [...this.#tenancies.keys()].sort()
    return names.map(name => {
      const tenancy = this.#tenancies.get(name)!
      tenancy.settle(new Set())
      const capsuleOwners = tenancy.capsule.owners()
      return { ...hub, name, hub: hub.name, owners: tenancy.owners, capsuleOwners }
    })
  }
}
