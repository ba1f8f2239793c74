import { BailiwickError } from '../../src/base/errors.ts'
import { openSnapshot, type TreeSnapshot } from '../../src/git/tree.ts'
import type { PullRequest } from '../../src/github/pull-request.ts'
import { commentOf } from '../../src/report/comment.ts'
import { combinedOutcome, type FleetStatement, type Outcome, type ReportContext } from '../../src/report/outcome.ts'
import { viewFor } from '../../src/report/text/audience.ts'
import type { RequiredApproval } from '../../src/rules/model/finding.ts'
import type { Statement } from '../../src/surface/pages/work-store.ts'
import { type Decision, decide, NO_DECISIONS } from '../../src/verdict/decide.ts'
import { type Fix, fixesOf } from '../../src/verdict/fixes.ts'
import type { OfferedFix } from '../../src/verdict/suggestions.ts'
import type { FleetAnswer } from '../fleets/evaluate-change.ts'
import type { Case, FleetPlace } from '../fleets/worker-context.ts'

/** An outcome, and the commit and repository that it is about. */
export interface CommitOutcome {
  readonly outcome: Outcome
  readonly context: ReportContext
  /** The certain fixes, where they were made already. */
  readonly fixes?: readonly Fix[]
  /** The evaluated tree of the repository that gets the verdict; absent if nothing of it was read. */
  readonly tree?: TreeSnapshot
  /** The approvals that the evaluation requires; those of guarded files follow from their paths. */
  readonly required?: readonly FleetApprovals[]
  /** The fleets that evaluated it; absent if none did. */
  readonly fleets?: readonly FleetPlace[]
}

/** The approvals that the admins of one fleet must give. */
export interface FleetApprovals {
  readonly fleet: FleetPlace
  readonly approvals: readonly RequiredApproval[]
}

/** What is published on a repository, and its audience. */
type CommitStatement = Pick<ReportContext, 'fleet' | 'audience' | 'nodes' | 'changes'> & {
  readonly outcome: Outcome
  /** The approvals that the evaluation requires, per fleet. */
  readonly required: readonly FleetApprovals[]
}

/** Combines the evaluations of all fleets into the outcome for the repository at `url`. */
export function outcomeOf(answers: readonly FleetAnswer[], url: string, kind: ReportContext['kind']): CommitStatement {
  const [first, ...more] = answers
  if (!first) return { outcome: undefined, required: [] }
  return {
    ...combinedOutcome([commitStatementOf(first), ...more.map(commitStatementOf)], url, kind),
    required: answers.flatMap(requiredOf),
    fleet: { repository: first.place.repository.url, commit: first.fleetCommit },
  }
}

const commitStatementOf = ({ place, evaluation, changes, narrower }: FleetAnswer): FleetStatement => ({
  fleet: place.repository.url,
  ...{ evaluation, changes, narrower },
})

/** Without guarded files, which are known by their paths, whatever is evaluated. */
function requiredOf({ place: fleet, evaluation }: FleetAnswer): FleetApprovals[] {
  const approvals = evaluation.verdict.requiredApprovals.filter(({ rule }) => !rule.startsWith('gate-'))
  return approvals.length > 0 ? [{ fleet, approvals }] : []
}

/** Returns the decision for an outcome and the human decisions about it. */
export function decisionOf({ outcome, context }: CommitOutcome): Decision {
  return decide(outcome, context.decisions ?? NO_DECISIONS)
}

/** Whether the decision blocks a merge. */
export function blocks(evaluated: CommitOutcome): boolean {
  return decisionOf(evaluated).conclusion !== 'success'
}

/**
 * Returns the certain fixes of a verdict's new findings in its own repository, as its readers may see them. Makes no
 * request.
 */
export function readFixes({ outcome, context, tree, fixes }: CommitOutcome): readonly Fix[] {
  if (fixes) return fixes
  if (outcome === undefined || outcome instanceof BailiwickError || !tree) return []
  const { verdict } = viewFor(outcome, context.audience, context.repository, context.nodes)
  if (![...verdict.violations, ...verdict.warnings].some(one => one.edit !== undefined)) return []
  const texts = textsOf(tree)
  return fixesOf(verdict, context.repository, path => texts(path))
}

/** Keeps the fixes whose file is the same at the head as in the evaluated merge. */
export function fixesAtHead<T extends Pick<Fix, 'path'>>(
  fixes: readonly T[],
  evaluated: TreeSnapshot,
  head: TreeSnapshot,
): readonly T[] {
  const ids = (tree: TreeSnapshot) => new Map(tree.entries.map(({ path, mode, id }) => [path, `${mode} ${id}`]))
  const [before, after] = [ids(evaluated), ids(head)]
  return fixes.filter(({ path }) => before.get(path) !== undefined && before.get(path) === after.get(path))
}

/** Returns a reader for regular files that are valid UTF-8. */
export function textsOf(snapshot: TreeSnapshot): (path: string) => string | undefined {
  const tree = openSnapshot(snapshot)
  return path => {
    if (tree.entry(path)?.type !== 'file') return undefined
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(tree.read(path))
    } catch (error) {
      if (error instanceof TypeError) return undefined // not UTF-8, so nothing of it is edited
      throw error
    }
  }
}

/** Builds the comment and the suggestions for a pull request. `page`: address of the details page. */
export async function statementOf(
  subject: Case,
  pull: PullRequest,
  {
    own,
    shown,
    page,
  }: { readonly own: CommitOutcome; readonly shown: CommitOutcome; readonly page?: string | undefined },
): Promise<Statement> {
  const fixes = readFixes(own)
  const head = own.tree && fixes.length > 0 && (await subject.installation.content(subject.repository, pull.head.sha))
  const certain = own.tree && head ? fixesAtHead(fixes, own.tree, head) : []
  const body = commentOf(shown.outcome, {
    ...shown.context,
    fixes: certain,
    ...(page === undefined ? {} : { page }),
  })
  return {
    repositoryId: subject.repository.id,
    headSha: pull.head.sha,
    ...(body === undefined ? {} : { body }),
    fixes: certain.map(offered),
  }
}

function offered({ id, path, first, last, lines, findings }: OfferedFix): OfferedFix {
  return { id, path, first, last, lines, findings: findings.map(({ rule, message, fix }) => ({ rule, message, fix })) }
}
