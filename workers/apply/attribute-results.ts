import type { ApplyResults } from '../../src/channel/apply-results.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import type { Approved } from './approved-nodes.ts'

/** Kustomizations that git no longer has, of one report: what else goes is named once. */
const MAX_GONE = 1_000

/**
 * What a cluster's worker says, as far as it can be its to say: of nodes that were approved what became of them, of others
 * only that they are gone, and never that what is held was applied. A node that it leaves out has failed, once the run is over.
 */
export function attributeResults(
  cluster: string,
  { nodes, apply, held }: Pick<Approved, 'nodes' | 'apply' | 'held'>,
  { applied: reported, isRunning }: Pick<ApplyResults, 'applied' | 'isRunning'>,
): AppliedNode[] {
  const byKey = new Map(reported.map(one => [one.key, one]))
  const known = new Set(nodes.map(({ key }) => key))
  const users = new Map(nodes.map(({ key, user }) => [key, user]))
  const ofApproved = apply.flatMap(({ key, user }): AppliedNode[] => {
    const one = byKey.get(key)
    if (one) return [{ ...one, user }]
    if (isRunning) return []
    return [{ key, user, outcome: 'failed', reason: 'the worker of the cluster did not report it', objects: [] }]
  })
  const ofHeld = held.map(({ node: key, reason, by }): AppliedNode => {
    // what waits for values of the cluster is for its worker to open
    const one = by === undefined ? undefined : byKey.get(key)
    if (one) return { ...one, user: users.get(key) ?? '' }
    return { key, user: users.get(key) ?? '', outcome: 'held', reason, objects: [] }
  })
  const gone = reported.filter(({ key }) => !known.has(key) && key.startsWith(`${cluster}/`))
  const left = gone.length - MAX_GONE
  const named = gone.slice(0, MAX_GONE).map((one, at) => {
    const isLast = left > 0 && at === MAX_GONE - 1
    return isLast ? { ...one, note: `${left} more Kustomizations that git no longer has are not listed` } : one
  })
  return [...ofApproved, ...ofHeld, ...named]
}
