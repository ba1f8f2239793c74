import type { Fix } from '../../src/fix/fixes-of.ts'
import type { OfferedFix } from '../../src/fix/suggestions.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import type { Statement } from '../../src/pages/statement-store.ts'
import { commentOf } from '../../src/report/comment.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { CommitOutcome } from './commit-outcome.ts'
import { fixesAtHead, readFixes } from './read-fixes.ts'

/** Builds the comment and the suggestions for a pull request. `page`: address of the details page. */
export async function statementOf(
  subject: OpenedRepository,
  pull: PullRequest,
  {
    own,
    shown,
    page,
  }: { readonly own: CommitOutcome; readonly shown: CommitOutcome; readonly page?: string | undefined },
): Promise<Statement> {
  const certain = await fixesHere(subject, pull, own)
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

async function fixesHere(
  { installation, repository }: OpenedRepository,
  pull: PullRequest,
  evaluated: CommitOutcome,
): Promise<readonly Fix[]> {
  const fixes = readFixes(evaluated)
  if (fixes.length === 0 || !evaluated.tree) return []
  return fixesAtHead(fixes, evaluated.tree, await installation.content(repository, pull.head.sha))
}

function offered({ id, path, first, last, lines, findings }: OfferedFix): OfferedFix {
  return { id, path, first, last, lines, findings: findings.map(({ rule, message, fix }) => ({ rule, message, fix })) }
}
