import type { ObjectId } from '../../kube/object.ts'
import type { Verdict } from '../../rules/model/finding.ts'

/**
 * What a change does to what the clusters get: plain JSON, bounded, in a fixed order, and without any value that is secret
 * or that only the cluster has. Texts in it come from repositories and are not escaped.
 */
export interface Changes {
  /** Kustomizations that render something else, by cluster, tenant and name. */
  readonly nodes: readonly NodeChange[]
  readonly rights: readonly RightChange[]
  readonly tenants: readonly TenantChange[]
  /** Clusters that only one side has, where they go of which nothing else is listed, and those that start or apply otherwise. */
  readonly clusters: readonly ClusterChange[]
  /** Everything that differs, also what is not listed. */
  readonly totals: Counts
  /** Kustomizations of others, of which the reader is shown nothing. */
  readonly hidden: number
  /** What is not listed because there is too much of it. */
  readonly left: LeftOut
}

interface ClusterChange {
  readonly name: string
  readonly change: 'added' | 'removed' | 'changed'
  /** What of one that stays is another. */
  readonly fields?: readonly string[]
}

/** How many of each. */
interface LeftOut {
  readonly nodes: number
  readonly objects: number
  readonly fields: number
  readonly rights: number
  readonly tenants: number
  readonly clusters: number
}

export interface Counts {
  readonly added: number
  readonly changed: number
  readonly replaced: number
  readonly moved: number
  readonly removed: number
  /** Of those removed, and of those moved to another namespace: what Flux deletes with what may be kept in it. */
  readonly deleted: number
}

export interface NodeChange {
  /** `<cluster>/<namespace>/<name>`. */
  readonly node: string
  readonly cluster: string
  readonly namespace: string
  readonly name: string
  /** '' for the platform. */
  readonly tenant: string
  /** The repositories whose content it renders, before and after. */
  readonly sources: readonly string[]
  readonly change: 'added' | 'changed' | 'removed'
  /** Which side could not be rendered, so that the objects cannot be compared. */
  readonly unknown?: 'before' | 'after'
  /** Nothing of it is applied until someone resumes it. */
  readonly suspended: boolean
  readonly prune: boolean
  /** The account that applies it, where it changed. */
  readonly identity?: { readonly was: string; readonly now: string }
  readonly counts: Counts
  readonly objects: readonly ObjectChange[]
  readonly images: readonly ImageChange[]
}

/** What becomes of an object that is no longer rendered. */
export type Fate =
  /** Flux deletes it. */
  | 'deleted'
  /** `prune: false` or the deletion policy: it stays on the cluster, no longer managed by Flux. */
  | 'orphaned'
  /** A label or annotation of its own keeps it. */
  | 'kept'
  /** Its Kustomization is suspended: nothing happens until that is resumed. */
  | 'suspended'
  /** Another Kustomization of the cluster renders it now. */
  | 'moved'

export interface ObjectChange {
  readonly id: ObjectId
  readonly change: 'added' | 'changed' | 'removed' | 'replaced' | 'moved'
  /** Of what is removed; `deleted` of what moved to another namespace, where something may be lost with the old one. */
  readonly fate?: Fate
  /** Of what moved to another namespace: the one before. */
  readonly from?: string
  /** Of what moved to another Kustomization: the one that had it, or the one that has it now. */
  readonly node?: string
  /** Of what is replaced: whether Flux deletes it and makes it anew; else the API server refuses the change. */
  readonly forced?: boolean
  readonly fields: readonly FieldChange[]
  /** How many differ, listed or not. */
  readonly fieldCount: number
}

export interface FieldChange {
  /** `spec.template.spec.containers[web].image`. */
  readonly path: string
  readonly change: 'added' | 'changed' | 'removed' | 'order'
  readonly was?: string
  readonly now?: string
  /** Texts of several lines: the lines that differ, each behind `+`, `-` or a space. */
  readonly lines?: readonly string[]
  /** The values are secret, or only the cluster has them. */
  readonly hidden?: true
}

export interface ImageChange {
  readonly was: string
  readonly now: string
  readonly objects: readonly string[]
}

export interface RightChange {
  readonly cluster: string
  /** '' for the platform and for people. */
  readonly tenant: string
  /** `ServiceAccount apps/dev-team`, `Group ops`. */
  readonly subject: string
  /** '' for the whole cluster. */
  readonly namespace: string
  readonly gains: readonly Right[]
  readonly loses: readonly Right[]
  /** Roles that it is bound to now and that are not rendered: what they allow is not known. */
  readonly unknown: readonly string[]
}

export interface Right {
  readonly verbs: readonly string[]
  /** `rolebindings.rbac.authorization.k8s.io`, `pods/log`, or a path of the API server. */
  readonly resource: string
  /** Empty: every name. */
  readonly names: readonly string[]
}

export interface TenantChange {
  readonly name: string
  readonly change: 'added' | 'removed'
  readonly clusters: readonly string[]
  readonly namespaces: readonly string[]
  /** How many of each are not listed. */
  readonly left: { readonly clusters: number; readonly namespaces: number }
}

/** Whether the clusters get exactly what they had. */
export function isUnchanged(changes: Changes): boolean {
  const { nodes, rights, tenants, clusters, left } = changes
  const listed = nodes.length + rights.length + tenants.length + clusters.length
  return listed + left.nodes + left.rights + left.tenants + left.clusters === 0
}

/** An object as it was before: what moved to another namespace was in the one before. */
export function idBefore({ id, from }: Pick<ObjectChange, 'id' | 'from'>): ObjectId {
  return from === undefined ? id : { ...id, namespace: from }
}

export const NO_COUNTS: Counts = { added: 0, changed: 0, replaced: 0, moved: 0, removed: 0, deleted: 0 }

const NOTHING_LEFT: LeftOut = { nodes: 0, objects: 0, fields: 0, rights: 0, tenants: 0, clusters: 0 }

/** The sum of counts. */
export const sumCounts = (all: readonly Counts[]): Counts => sumOf(NO_COUNTS, all)

/** The sum of numbers by their names, which are those of `none`. */
export function sumOf<T extends { readonly [K in keyof T]: number }>(none: T, all: readonly T[]): T {
  const names = Object.keys(none) as (keyof T)[]
  return Object.fromEntries(names.map(name => [name, all.reduce((sum, one) => sum + one[name], 0)])) as T
}

/** How much of a change is shown in detail; everything is counted. */
export interface Limits {
  readonly nodes: number
  /** Removed objects have a count of their own: they are what cannot be undone. */
  readonly removed: number
  readonly objects: number
  readonly fieldsOfObject: number
  /** Of all fields as JSON. */
  readonly bytes: number
  readonly rights: number
  readonly tenants: number
  /** Clusters that come or go. */
  readonly clusters: number
  /** Clusters, and namespaces, of a tenant. */
  readonly placesOfTenant: number
}

export const LIMITS: Limits = {
  nodes: 400,
  removed: 1000,
  objects: 1000,
  fieldsOfObject: 80,
  bytes: 256 * 1024,
  rights: 200,
  tenants: 200,
  clusters: 100,
  placesOfTenant: 50,
}

/** What is left of the limits, and what was left out. */
export class Room {
  readonly limits: Limits
  readonly left = { ...NOTHING_LEFT }
  #removed: number
  #objects: number
  #bytes: number

  constructor(limits: Limits) {
    this.limits = limits
    this.#removed = limits.removed
    this.#objects = limits.objects
    this.#bytes = limits.bytes
  }

  /** Whether fields are still worth comparing. */
  get isOpen(): boolean {
    return this.#bytes > 0 && this.#objects > 0
  }

  /** The change with as many of its fields as there is room for; undefined where there is none for itself. */
  take(change: ObjectChange): ObjectChange | undefined {
    const hasRoom = change.change === 'removed' || change.fate === 'deleted' ? this.#removed-- > 0 : this.#objects-- > 0
    if (!hasRoom) {
      this.left.objects++
      return undefined
    }
    const fields = change.fields.slice(0, this.limits.fieldsOfObject)
    const size = JSON.stringify(fields).length
    // the first item that does not fit ends the list: order counts, not size
    this.#bytes -= size
    const shown = this.#bytes >= 0 ? fields : []
    this.left.fields += change.fieldCount - shown.length
    return shown.length === change.fields.length ? change : { ...change, fields: shown }
  }
}

/** What a change does in several fleets, as one; undefined for none. */
export function mergeChanges(all: readonly Changes[]): Changes | undefined {
  if (all.length <= 1) return all[0]
  return {
    nodes: all.flatMap(one => one.nodes),
    rights: all.flatMap(one => one.rights),
    tenants: all.flatMap(one => one.tenants),
    clusters: all.flatMap(one => one.clusters),
    totals: sumCounts(all.map(one => one.totals)),
    hidden: all.reduce((sum, one) => sum + one.hidden, 0),
    left: sumOf(
      NOTHING_LEFT,
      all.map(one => one.left),
    ),
  }
}

/** Of what a change does, what concerns these clusters and tenants; the Kustomizations of others are counted. */
export function filterChanges(changes: Changes, filter: Omit<NonNullable<Verdict['filter']>, 'outside'>): Changes {
  const clusters = new Set(filter.clusters)
  const tenants = new Set(filter.tenants)
  const onCluster = (name: string) => clusters.size === 0 || clusters.has(name)
  const ofTenant = (name: string) => tenants.size === 0 || tenants.has(name)
  // its key begins with its own cluster, which may apply it to another
  const isKept = ({ cluster, node, tenant }: NodeChange) =>
    (onCluster(cluster) || onCluster(node.slice(0, node.indexOf('/')))) && ofTenant(tenant)
  const nodes = changes.nodes.filter(isKept)
  return {
    ...changes,
    nodes,
    rights: changes.rights.filter(({ cluster, tenant }) => onCluster(cluster) && ofTenant(tenant)),
    // of a tenant with clusters that are not listed it may be one
    tenants: changes.tenants.filter(
      ({ name, clusters: on, left }) => ofTenant(name) && (left.clusters > 0 || on.some(onCluster)),
    ),
    clusters: changes.clusters.filter(({ name }) => onCluster(name)),
    totals: sumCounts(nodes.map(({ counts }) => counts)),
    hidden: changes.hidden + changes.nodes.length - nodes.length,
  }
}
