import type { Json } from '../../kube/node.ts'

/** What kstatus says of an object: `Unknown` where its status is not of the form that its kind has. */
type Status = 'Current' | 'InProgress' | 'Failed' | 'Terminating' | 'NotFound' | 'Unknown'

export interface ResourceStatus {
  readonly status: Status
  readonly message: string
  /** Of what is in progress or has failed: the reason of the condition that kstatus derives. */
  readonly reason?: string
}

export const current = (message: string): ResourceStatus => ({ status: 'Current', message })

export const inProgress = (reason: string, message: string): ResourceStatus => ({
  status: 'InProgress',
  message,
  reason,
})

export const failed = (reason: string, message: string): ResourceStatus => ({ status: 'Failed', message, reason })

export const unknown = (message: string): ResourceStatus => ({ status: 'Unknown', message })

/** A condition of an object; a field that is absent is ''. */
export interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

/** The value at a path of plain JSON; undefined where a step is absent, inherited or not a map. */
export function fieldOf(object: Json | undefined, ...path: readonly string[]): Json | undefined {
  let here = object
  for (const key of path) {
    if (here === null || typeof here !== 'object' || Array.isArray(here) || !Object.hasOwn(here, key)) return undefined
    here = here[key]
  }
  return here
}

/** The string at a path, else the fallback: also where there is something else than a string. */
export function textOf(object: Json, path: readonly string[], fallback = ''): string {
  const value = fieldOf(object, ...path)
  return typeof value === 'string' ? value : fallback
}

/** The integer at a path, else the fallback: also where there is something else than an integer. */
export function integerOf(object: Json, path: readonly string[], fallback: number): number {
  const value = fieldOf(object, ...path)
  return typeof value === 'number' && Number.isInteger(value) ? value : fallback
}

/**
 * `status.conditions`; none where there are none. Undefined where they are not of the form that Kubernetes has, which
 * its own decoder refuses.
 */
export function conditionsOf(object: Json): readonly Condition[] | undefined {
  const status = fieldOf(object, 'status')
  if (status === undefined || status === null) return []
  if (typeof status !== 'object' || Array.isArray(status)) return undefined
  const list = fieldOf(status, 'conditions')
  if (list === undefined || list === null) return []
  if (!Array.isArray(list)) return undefined
  const conditions: Condition[] = []
  for (const item of list) {
    const condition = conditionOf(item)
    if (!condition) return undefined
    conditions.push(condition)
  }
  return conditions
}

function conditionOf(item: Json): Condition | undefined {
  if (item !== null && (typeof item !== 'object' || Array.isArray(item))) return undefined
  const read = { type: '', status: '', reason: '', message: '' }
  for (const key of ['type', 'status', 'reason', 'message'] as const) {
    const value = fieldOf(item, key) ?? ''
    if (typeof value !== 'string') return undefined
    read[key] = value
  }
  return read
}

/** Whether a condition of that type has that status. */
export function hasCondition(conditions: readonly Condition[], type: string, status: string): boolean {
  return conditions.some(condition => condition.type === type && condition.status === status)
}
