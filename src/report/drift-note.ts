import type { ObjectId } from '../kube/object.ts'

/** What others changed of one object on a cluster, and the worker put back: names only, never a value. */
export interface DriftNote {
  /** Key of the node. */
  readonly node: string
  readonly object: ObjectId
  readonly change: 'changed' | 'deleted'
  readonly fields: readonly string[]
  /** Names of field managers. */
  readonly managers: readonly string[]
  readonly count: number
  /** ISO times. */
  readonly first: string
  readonly last: string
}
