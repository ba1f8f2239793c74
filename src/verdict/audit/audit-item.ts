import { firstNames } from '../../base/name-list.ts'
import type { Origin } from '../../base/origin.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { shown } from '../../fleet/facts/shown.ts'
import { type Cluster, type FleetNode, whyIncomplete } from '../../fleet/model/fleet.ts'

/** `unknown`: the fleet does not contain the setting, which is never treated as `ok`. */
export type AuditState = 'ok' | 'weak' | 'unknown'

/** The state of one setting that isolates tenants on a cluster. Plain JSON. */
export interface AuditItem {
  /** What is looked at: `no-cross-namespace-refs`, `default-account`, ... */
  readonly check: string
  /** Whose: a controller, a namespace, a source; '' for the whole cluster. */
  readonly subject: string
  /** The tenant, where each has an item of the check; '' for the platform. */
  readonly tenant?: string
  readonly state: AuditState
  readonly message: string
  readonly why: string
  /** What to do about it; '' where nothing is. */
  readonly fix: string
  readonly origin?: Omit<Origin, 'via'>
}

/** The audit of one cluster, with items in a fixed order. */
export interface ClusterAudit {
  readonly cluster: string
  readonly path: string
  readonly items: readonly AuditItem[]
}

/** The place of a value, without the steps that led there. */
export const place = ({ repository, file, line, column }: Origin): Omit<Origin, 'via'> => ({
  repository,
  file,
  line,
  column,
})

/** The cluster that an audit inspects, with its nodes and index. */
export interface AuditedCluster {
  readonly cluster: Cluster
  /** All of the cluster. */
  readonly nodes: readonly FleetNode[]
  readonly index: FleetIndex
  /** Of tenants, sorted. */
  readonly namespaces: readonly string[]
}

/** Explains which Kustomization could hide objects from the audit because it failed or could not be read; undefined if there is none. */
export function unseenPart({ nodes }: AuditedCluster, which: (node: FleetNode) => boolean): string | undefined {
  const node = nodes.find(one => which(one) && (whyIncomplete(one) !== undefined || one.source.opaque !== undefined))
  if (!node) return undefined
  const error = whyIncomplete(node)
  const why = error ? `it cannot be rendered as a whole (${error.code})` : `its source is not visible`
  return `what Kustomization ${shown(`${node.namespace}/${node.name}`)} applies is unknown: ${why}`
}

export const isPlatforms = (node: FleetNode): boolean => node.tenant === undefined

const MAX_NAMED = 5

/** The first names, and how many more there are, each safe to put in a message. */
export const fewNames = (names: readonly string[]): string => firstNames(names, MAX_NAMED)
