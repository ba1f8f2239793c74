import type { ClusterClient } from '../../src/cluster/client.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import type { NodeResult } from './apply-node.ts'
import type { ClusterMemory } from './cluster-memory.ts'
import type { NodeHealth } from './health-watch.ts'
import type { StatusBoard } from './status-board.ts'

/** One run over a cluster, and what is known of it so far. */
export interface Run {
  readonly client: ClusterClient
  readonly memory: ClusterMemory
  readonly signal: AbortSignal
  /** In the order in which their turns ended: parents before children. */
  readonly results: Map<string, NodeResult>
  readonly applied: Map<string, AppliedNode>
  readonly board: StatusBoard
  /** Milliseconds that each turn took. */
  readonly took: Map<string, number>
  readonly health: Map<string, NodeHealth>
}
