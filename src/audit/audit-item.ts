import type { Origin } from '../origin.ts'

/** `unknown`: the fleet does not contain the setting, which is never treated as `ok`. */
export type AuditState = 'ok' | 'weak' | 'unknown'

/** The state of one setting that isolates tenants on a cluster. Plain JSON. */
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
