/** Name of the check run that gates a merge where one base of the repository is gated: the required check. */
export const CHECK_NAME = 'bailiwick / tenancy'

/** Name of the check run on the tip of a branch. No rule requires it: a verdict on a branch lets no pull request pass. */
export const BRANCH_CHECK_NAME = 'bailiwick / branch'

/** Name that a run of ours gets when it counts for no base any more; GitHub cannot delete a run. */
export const SUPERSEDED_CHECK_NAME = 'bailiwick / superseded'

/** What is known of a branch that pull requests may aim at. */
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

/** Name of the check that is about one base of several. Another base has another name, whatever it is called. */
export function checkNameOf(base: string): string {
  return `${CHECK_NAME} (${base})`
}

/** Whether rules that require a check of this name wait for one of ours. */
export function isTenancyCheck(name: string): boolean {
  return name === CHECK_NAME || (name.startsWith(`${CHECK_NAME} (`) && name.endsWith(')'))
}

/** Whether our check decides what is merged into a base. Rules that cannot be read may require it. */
export function isGated({ followed, required }: Base): boolean {
  return followed || required === undefined || required.length > 0
}

/** The name under which a base has its own check: the plain one where no other base of the repository is gated. */
export function ownCheckName(bases: readonly Base[], base: string): string {
  return bases.some(one => one.branch !== base && isGated(one)) ? checkNameOf(base) : CHECK_NAME
}

/**
 * The checks of a pull request onto `aim`, the only place that names them: its own, and every one of ours that the rules
 * there require. GitHub keeps checks by commit, so each is about all bases at which its name counts. None where the base is
 * not gated. `bases`: every gated base of the repository, and `aim`.
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
