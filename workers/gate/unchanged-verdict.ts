import { hash } from 'node:crypto'
import { BailiwickError } from '../../src/base/errors.ts'
import type { ListedPullRequest } from '../../src/github/pull-request.ts'
import type { TestMerge } from '../../src/github/test-merge.ts'
import { checkRunOf } from '../../src/report/check-run.ts'
import { commentOf } from '../../src/report/comment.ts'
import { NO_DECISIONS } from '../../src/verdict/decide.ts'
import type { Case } from '../fleets/worker-context.ts'
import type { CommitOutcome } from './commit-outcome.ts'
import { evaluateMerge } from './evaluate-pull-request.ts'

/**
 * Notes what a pull request got, so that a push to a fleet is compared with it without a request to GitHub. Only where nothing
 * but the verdict decided: what people decide depends on the fleet's file, too.
 */
export async function noteVerdict(subject: Case, pull: ListedPullRequest, merge: TestMerge, evaluated: CommitOutcome) {
  const { owner, repo, context } = subject
  const { hold, override, missing, approvals = [] } = evaluated.context.decisions ?? NO_DECISIONS
  const isAlone = !hold && !override && missing.length + approvals.length === 0 && !pull.head.fork
  const print = isAlone ? fingerprintOf(evaluated) : undefined
  await context.statements.noteVerdict(
    { owner, repo, pull: pull.number },
    print === undefined ? undefined : { merge, print },
  )
}

/** Whether the last verdict of an open pull request is what it would get now, by what is known without asking GitHub about it. */
export async function isUnchanged(subject: Case, pull: ListedPullRequest): Promise<boolean> {
  const { context, installation, repository, owner, repo } = subject
  const known = await context.statements.verdictOf({ owner, repo, pull: pull.number })
  if (known?.merge.head !== pull.head.sha) return false
  if ((await installation.head(repository, { branch: pull.base.ref })) !== known.merge.base) return false
  const where = {
    kind: 'pull-request',
    repository: repository.url,
    headSha: pull.head.sha,
    base: pull.base.ref,
  } as const
  try {
    return fingerprintOf(await evaluateMerge(subject, pull, known.merge, where)) === known.print
  } catch (error) {
    context.log.info({ err: error, pull: `${repository.url}#${pull.number}` }, 'verdict could not be compared')
    return false
  }
}

/** Everything that people read of it, except the commit of the fleet; undefined where nothing was decided. */
function fingerprintOf({ outcome, context, required }: CommitOutcome): string | undefined {
  if (outcome instanceof BailiwickError) return undefined
  const same = outcome && { ...outcome, revisionSet: '' }
  const { decisions: _decisions, fixable: _fixable, fleet, ...rest } = context
  const about = { ...rest, ...(fleet ? { fleet: { ...fleet, commit: '' } } : {}) }
  return hash('sha256', JSON.stringify([checkRunOf(same, about), commentOf(same, about) ?? '', required ?? []]))
}
