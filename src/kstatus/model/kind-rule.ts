import type { Json } from '../../kube/node.ts'
import type { Condition } from './fields.ts'
import type { ResourceStatus } from './resource-status.ts'

/** What decides about one kind, once the generic rules left it open. `now` in milliseconds. */
export type KindRule = (object: Json, conditions: readonly Condition[], now: number) => ResourceStatus
