import { hash } from 'node:crypto'

/** The check of a repository's default branch. */
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
  readonly isDefault: boolean
  /** A source of a fleet follows it, or a fleet's file lists it in `gatedBranches`. */
  readonly followed: boolean
  /** Names of ours that GitHub's effective rules for it require; undefined: the rules cannot be read. */
  readonly required: readonly string[] | undefined
}

/** A check run on the head of pull requests. */
export interface NamedCheck {
  readonly name: string
  /** The bases at which a check of this name counts: those of the pull requests, and followed ones. */
  readonly bases: readonly string[]
  /** Those of them that a fleet follows or lists: about the others there is nothing to evaluate. */
  readonly followed: readonly string[]
}

/** GitHub documents no limit for the name of a check run; a longer one is shortened. Branches have up to 244 bytes. */
const MAX_NAME = 255
const SHORTENED = 200

/** The name of the check of one base. Different bases have different names: no branch has the space of a shortened one. */
export function checkNameOf(base: string): string {
  const name = `${CHECK_NAME} (${base})`
  if (name.length <= MAX_NAME) return name
  return `${CHECK_NAME} (${base.slice(0, SHORTENED).toWellFormed()} ${hash('sha256', base).slice(0, 16)})`
}

/** Whether a required check of this name is one of ours. */
export function isTenancyCheck(name: string): boolean {
  return name === CHECK_NAME || (name.startsWith(`${CHECK_NAME} (`) && name.endsWith(')'))
}

/** Whether our check gates merges into a base. If its rules cannot be read, it counts as gated. */
export function isGated({ followed, required }: Base): boolean {
  return followed || required === undefined || required.length > 0
}

/** The name of a base's own check. It depends on the base alone, so that a pass counts at no other one. */
export function ownCheckName({ branch, isDefault }: Pick<Base, 'branch' | 'isDefault'>): string {
  return isDefault ? CHECK_NAME : checkNameOf(branch)
}

/**
 * Returns the checks of a commit that is the head of pull requests into `aims`: the own one of each gated base, and each of
 * ours that the rules there require. `bases`: every followed base of the repository, and `aims`.
 */
export function checkNames(bases: readonly Base[], aims: readonly string[]): readonly NamedCheck[] {
  const gated = bases.filter(isGated)
  const targets = gated.filter(({ branch }) => aims.includes(branch))
  const names = new Set([
    ...targets.map(ownCheckName),
    // what unreadable rules require is not known: the plain name is what they most likely wait for
    ...targets.flatMap(({ required = [CHECK_NAME] }) => [...required].sort()),
  ])
  return [...names].map(name => {
    const counting = gated.filter(base => countsAt(base, name))
    return { name, bases: branchesOf(counting), followed: branchesOf(counting.filter(one => one.followed)) }
  })
}

/**
 * Whether a pass under this name would let the head be merged where that was not evaluated: the name counts at several
 * bases, and a fleet follows one of them. GitHub keeps checks by commit, so it never passes.
 */
export function isShared({ bases, followed }: Pick<NamedCheck, 'bases' | 'followed'>): boolean {
  return bases.length > 1 && followed.length > 0
}

const branchesOf = (bases: readonly Base[]) => bases.map(({ branch }) => branch).sort()

/** Whether a check of this name may let something be merged into a base. */
function countsAt(base: Base, name: string): boolean {
  const { branch, required = [CHECK_NAME] } = base
  return [ownCheckName(base), checkNameOf(branch), ...required].some(one => looksLike(one, name))
}

/** Equal, or so close that GitHub may take one for the other: case, and forms of Unicode. */
function looksLike(one: string, other: string): boolean {
  return one === other || folded(one) === folded(other)
}

const folded = (name: string) =>
  name
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .toLowerCase()
