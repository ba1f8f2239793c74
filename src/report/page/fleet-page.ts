import type { AccessOverview } from '../../access/access-overview.ts'
import type { ClusterAudit } from '../../audit/audit-item.ts'
import type { NotSeen, Tenant } from '../../fleet/model/fleet.ts'
import type { Visibility } from '../../fleet/model/visibility.ts'
import type { CoveredPolicy } from '../../rules/policies/support/policy-coverage.ts'
import type { ListedFinding } from './fleet-findings.ts'
import type { FleetGraphNode } from './fleet-graph.ts'

/** A source that was read. */
export interface SeenSource {
  readonly id: string
  readonly url: string
  readonly commit: string
  /** How many Kustomizations deploy from it. */
  readonly used: number
}

/** A policy as the page holds it. */
export interface StoredPolicy extends CoveredPolicy {
  /** Rules, and exceptions, beyond the listed ones; absent: none. */
  readonly moreRules?: number
  readonly moreExceptions?: number
}

/**
 * What the page of a fleet shows, as it stands on the branch that clusters follow: plain JSON of bounded size. It is the
 * platform's view, for readers of the fleet's own repository.
 */
export interface FleetPage {
  readonly kind: 'fleet'
  readonly owner: string
  readonly repo: string
  /** GitHub's id of the repository; absent where nobody knew it. */
  readonly repositoryId?: number
  /** Who could see the repository when it was made: where more can now, it is not shown. Absent: as of a private one. */
  readonly visibility?: Visibility
  readonly repository: string
  readonly branch: string
  readonly commit: string
  readonly at: string
  readonly result: 'pass' | 'fail' | 'error'
  readonly counts: {
    readonly nodes: number
    readonly objects: number
    readonly violations: number
    readonly errors: number
  }
  readonly clusters: readonly { readonly name: string; readonly path: string; readonly nodes: number }[]
  /** Clusters of which nothing in git says where Flux starts, in one line. */
  readonly assumed?: string
  readonly tenants: readonly Tenant[]
  readonly sources: readonly SeenSource[]
  readonly notSeen: readonly NotSeen[]
  /** By tenant, those with the most open violations first. Absent on a page from an older version. */
  readonly findings?: readonly ListedFinding[]
  readonly graph: readonly FleetGraphNode[]
  readonly audit: readonly ClusterAudit[]
  /** Absent on a page from an older version. */
  readonly policies?: readonly StoredPolicy[]
  readonly access: AccessOverview
  /** Whether decisions are recorded. Absent on a page from an older version. */
  readonly trail?: 'on' | 'off'
  readonly commits: Readonly<Record<string, string>>
  readonly left: Readonly<Record<string, number>>
}
