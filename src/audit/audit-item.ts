import type { Origin } from '../origin.ts'

/** `unknown`: the fleet does not show it; that is never as good as `ok`. */
export type AuditState = 'ok' | 'weak' | 'unknown'

/** One thing that keeps tenants apart on a cluster, or does not. Plain JSON. */
export interface AuditItem {
  /** What is looked at: `no-cross-namespace-refs`, `default-account`, ... */
  readonly check: string
  /** Whose: a controller, a namespace, a source; '' for the whole cluster. */
  readonly subject: string
  readonly state: AuditState
  readonly message: string
  readonly why: string
  /** What to do about it; '' where nothing is. */
  readonly fix: string
  readonly origin?: Omit<Origin, 'via'>
}

/** What was found on one cluster, in a fixed order. */
export interface ClusterAudit {
  readonly cluster: string
  readonly path: string
  readonly items: readonly AuditItem[]
}

/** A place without how the value came there. */
export const place = ({ repository, file, line, column }: Origin): Omit<Origin, 'via'> => ({
  repository,
  file,
  line,
  column,
})
