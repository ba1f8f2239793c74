import { BailiwickError } from '../../src/errors.ts'
import { checkNameOf, isShared, type NamedCheck } from '../../src/gate/check-names.ts'
import type { OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import { listed, message, part } from '../../src/message/message.ts'
import type { PageCommit } from '../../src/report/page/check-page.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { blocks } from '../evaluate/blocks.ts'
import type { CommitOutcome } from '../evaluate/commit-outcome.ts'
import { decisionOf } from '../evaluate/decision-of.ts'
import { recordVerdict } from '../trail/record-verdict.ts'
import { keepPage, type PageOwner } from './keep-page.ts'
import { type PublishTarget, publishVerdict } from './publish-verdict.ts'

/** What was published of a pull request or merge group. */
interface PublishedChecks {
  /** The most severe of its checks. */
  readonly shown: CommitOutcome
  /** Whether anything was written. */
  readonly written: boolean
  /** Whether one of its checks passes. */
  readonly passes: boolean
  readonly detailsUrl?: string | undefined
}

interface Publishing {
  readonly place: PublishTarget
  readonly owner: PageOwner & { readonly installation: number }
  /** The pull request, or the commit of a merge group. */
  readonly about: PullRequest | PageCommit
  /** Our runs of the commit. */
  readonly runs: readonly OurCheckRun[]
  /** Whether a run is written although the same stands there. */
  readonly again?: boolean
}

/** Publishes a decision under the name of each check of a commit; one whose name counts at several bases fails instead. */
export async function publishChecks(
  context: WorkerContext,
  { place, owner, about, runs, again }: Publishing,
  checks: readonly NamedCheck[],
  decided: CommitOutcome,
): Promise<PublishedChecks> {
  const where = 'number' in about ? { ...owner, pull: about.number } : owner
  let published: PublishedChecks = { shown: decided, written: false, passes: false }
  for (const check of checks) {
    const outcome = isShared(check) ? sharedOutcome(check, decided) : decided
    const detailsUrl = await keepPage(context, owner, check.name, outcome, about)
    const record = () => recordVerdict(context, where, place.app, check.name, outcome)
    const written =
      (await publishVerdict(place, check, outcome, { runs, detailsUrl, again, record })) || published.written
    const passes = published.passes || !blocks(outcome)
    const isWorse = decisionOf(outcome).severity > decisionOf(published.shown).severity
    published =
      isWorse || check === checks[0]
        ? { shown: outcome, written, passes, detailsUrl }
        : { ...published, written, passes }
  }
  return published
}

/** Neither an override nor an approval lets it pass: they are about one base. */
function sharedOutcome({ name, bases }: NamedCheck, { context }: CommitOutcome): CommitOutcome {
  const { kind, repository, headSha } = context
  const quoted = (branch: string) => part('branch', branch, JSON.stringify(branch))
  const outcome = new BailiwickError(
    'check-shared',
    message`The rules of ${listed(bases.slice(0, MAX_BASES).map(quoted))} accept ${part('branch', name)}, so a pass for one branch would let this commit into the others`,
    {
      fix: `Run \`/bailiwick gate\` on the fleet. Rules that it cannot edit require ${checkNameOf('BRANCH')} of every branch but the default one.`,
    },
  )
  return { outcome, context: { kind, repository, headSha } }
}

const MAX_BASES = 5
