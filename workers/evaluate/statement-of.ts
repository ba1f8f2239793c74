import type { Fix } from '../../src/fix/fixes-of.ts'
import type { OfferedFix } from '../../src/fix/suggestions.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import { completionText } from '../../src/onboard/completion/completion-text.ts'
import type { Completion } from '../../src/onboard/completion/plan-completion.ts'
import type { Statement } from '../../src/pages/statement-store.ts'
import { COMMENT_MARKER, commentOf } from '../../src/report/comment.ts'
import { fitBudget } from '../../src/report/text/fit-budget.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { CommitOutcome } from './commit-outcome.ts'
import { completionFixes, readCompletions } from './read-completions.ts'
import { fixesAtHead, readFixes } from './read-fixes.ts'

/** Builds the comment and the suggestions for a pull request. `page`: address of the details page. */
export async function statementOf(
  context: WorkerContext,
  subject: OpenedRepository,
  pull: PullRequest,
  {
    own,
    shown,
    page,
  }: { readonly own: CommitOutcome; readonly shown: CommitOutcome; readonly page?: string | undefined },
): Promise<Statement> {
  const certain = await fixesHere(subject, pull, own)
  const verdict = commentOf(shown.outcome, {
    ...shown.context,
    fixes: certain,
    ...(page === undefined ? {} : { page }),
  })
  const completions = await readCompletions(context, subject, pull, own)
  const body = withCompletions(verdict, completions, pull)
  return {
    repositoryId: subject.repository.id,
    headSha: pull.head.sha,
    ...(body === undefined ? {} : { body }),
    fixes: await offeredFixes(subject, pull, own, { certain, completions }),
  }
}

/** GitHub takes 65,536 characters. */
const COMMENT_BUDGET = 65_000

/** The comment with what new tenants lack; there is one for that alone, too. */
function withCompletions(body: string | undefined, completions: readonly Completion[], pull: PullRequest) {
  if (completions.length === 0) return body
  const sections = completions.map(one => ({ text: completionText(one, pull.head.fork), label: 'incomplete tenant' }))
  return fitBudget(body ?? COMMENT_MARKER, sections, COMMENT_BUDGET, '')
}

async function offeredFixes(
  { installation, repository }: OpenedRepository,
  pull: PullRequest,
  own: CommitOutcome,
  { certain, completions }: { readonly certain: readonly Fix[]; readonly completions: readonly Completion[] },
): Promise<OfferedFix[]> {
  const added = completionFixes(completions)
  const fixes = certain.map(offered)
  if (added.length === 0 || !own.tree) return fixes
  return [...fixes, ...fixesAtHead(added, own.tree, await installation.content(repository, pull.head.sha))]
}

async function fixesHere(
  { installation, repository }: OpenedRepository,
  pull: PullRequest,
  said: CommitOutcome,
): Promise<readonly Fix[]> {
  const fixes = readFixes(said)
  if (fixes.length === 0 || !said.tree) return []
  return fixesAtHead(fixes, said.tree, await installation.content(repository, pull.head.sha))
}

function offered({ id, path, first, last, lines, findings }: OfferedFix): OfferedFix {
  return { id, path, first, last, lines, findings: findings.map(({ rule, message, fix }) => ({ rule, message, fix })) }
}
