/** The required check, if the repository has a single gated base. */
export const CHECK_NAME = 'bailiwick / tenancy'

/**
 * The check run on the tip of a branch. It is never required, because a verdict on a branch must not let a pull request
 * pass.
 */
export const BRANCH_CHECK_NAME = 'bailiwick / branch'

/** The new name of a check run that no longer counts for any base. GitHub cannot delete check runs. */
export const SUPERSEDED_CHECK_NAME = 'bailiwick / superseded'

/** A branch that pull requests can target, and whether it is gated. */
export interface Base {
  readonly branch: string
  /** A source of a fleet follows it, or a fleet's file lists it in `gatedBranches`. */
  readonly followed: boolean
  /** Names of ours that GitHub's effective rules for it require; undefined: the rules cannot be read. */
  readonly required: readonly string[] | undefined
}

/** A check run that a pull request gets. */
export interface NamedCheck {
  readonly name: string
  /** The bases at which a check of this name counts: it carries the most severe decision about merging the head into them. */
  readonly bases: readonly string[]
  /** Those of them that a fleet follows or lists: about the others there is nothing to evaluate. */
  readonly followed: readonly string[]
}

/** The name of the check for one base of several. Different bases have different names. */
export function checkNameOf(base: string): string {
  return `${CHECK_NAME} (${base})`
}

/** Whether a required check of this name is one of ours. */
export function isTenancyCheck(name: string): boolean {
  return name === CHECK_NAME || (name.startsWith(`${CHECK_NAME} (`) && name.endsWith(')'))
}

/** Whether our check gates merges into a base. If its rules cannot be read, it counts as gated. */
export function isGated({ followed, required }: Base): boolean {
  return followed || required === undefined || required.length > 0
}

/** The name of a base's check: the plain name if no other base of the repository is gated. */
export function ownCheckName(bases: readonly Base[], base: string): string {
  return bases.some(one => one.branch !== base && isGated(one)) ? checkNameOf(base) : CHECK_NAME
}

/**
 * Returns the checks of a pull request into `aim`: its own, and each of ours that the rules there require; none if the
 * base is not gated. GitHub keeps checks per commit, so each covers all bases where its name counts. `bases`: every
 * gated base of the repository, and `aim`.
 */
export function checkNames(bases: readonly Base[], aim: string): readonly NamedCheck[] {
  const target = bases.find(one => one.branch === aim)
  if (!target || !isGated(target)) return []
  // what unreadable rules require is not known: the plain name is what they most likely wait for
  const required = target.required ?? [CHECK_NAME]
  const names = new Set([ownCheckName(bases, aim), ...[...required].sort()])
  return [...names].map(name => {
    const counting = bases.filter(one => isGated(one) && countsAt(one, name))
    return { name, bases: branchesOf(counting), followed: branchesOf(counting.filter(one => one.followed)) }
  })
}

const branchesOf = (bases: readonly Base[]) => bases.map(({ branch }) => branch).sort()

/** Whether a check of this name may let something be merged into a base: the plain one does wherever the rules say so. */
function countsAt({ branch, required }: Base, name: string): boolean {
  return name === CHECK_NAME || name === checkNameOf(branch) || (required?.includes(name) ?? false)
}
