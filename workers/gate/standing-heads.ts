import { mayLeadTo } from '../../src/fleet/model/named-repositories.ts'
import type { StandingFleet } from '../fleets/read-fleets.ts'

/** A branch that a fleet reads, at its present commit. */
export interface StandingHead {
  readonly url: string
  readonly branch: string
  readonly commit: string
}

/**
 * Every branch that these fleets read, their own included, once each. Tags and commits are left out because they do not
 * move.
 */
export function standingHeads(fleets: readonly StandingFleet[]): StandingHead[] {
  const heads = fleets.flatMap(headsOf)
  return [...new Map(heads.map(head => [headKey(head), head])).values()]
}

/**
 * The branches that decide about what is merged into a branch: it, and the fleets that read it or may read it unseen, or all
 * that a fleet's own branch reads.
 */
export function headsThatDecide(
  fleets: readonly StandingFleet[],
  target: { readonly url: string; readonly branch: string },
): StandingHead[] {
  const isTarget = (head: StandingHead) => head.url === target.url && head.branch === target.branch
  const deciding = fleets.flatMap(fleet => {
    const [own, ...sources] = headsOf(fleet)
    if (own === undefined) return []
    if (isTarget(own)) return [own, ...sources]
    const mayRead = fleet.isDark || mayLeadTo(fleet.hides, target.url)
    return mayRead || sources.some(isTarget) ? [own, ...sources.filter(isTarget)] : []
  })
  return [...new Map(deciding.map(head => [headKey(head), head])).values()]
}

/** The key of a head. */
export function headKey({ url, branch, commit }: StandingHead): string {
  return JSON.stringify([url, branch, commit])
}

function headsOf({ place, commit, sources }: StandingFleet): StandingHead[] {
  const own = { url: place.repository.url, branch: place.branch, commit }
  const followed = sources.flatMap(source => {
    // one that only a tenant's declaration leads to gets no verdict of its own
    if (!('commit' in source) || source.lent) return []
    const { branch, ...other } = source.ref
    const isBranch = branch !== undefined && Object.values(other).every(value => value === undefined)
    return isBranch ? [{ url: source.url, branch, commit: source.commit }] : []
  })
  return [own, ...followed]
}
