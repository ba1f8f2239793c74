import type { NamedCheck } from '../../src/gate/check-names.ts'
import type { OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { CommitOutcome } from '../evaluate/commit-outcome.ts'
import { decisionOf } from '../evaluate/decision-of.ts'
import type { EvaluatedPull } from '../evaluate/evaluate-with-circumstances.ts'
import { type LedVerdict, worstOfBases, worstOfHead } from '../evaluate/worst-of-head.ts'
import { recordVerdict } from '../trail/record-verdict.ts'
import { keepPage, type PageOwner } from './keep-page.ts'
import { type PublishTarget, publishVerdict } from './publish-verdict.ts'

/** What was published of a pull request. */
interface PublishedChecks {
  /** The most severe of its checks. */
  readonly shown: CommitOutcome
  /** Whether anything was written. */
  readonly written: boolean
  readonly detailsUrl?: string | undefined
}

interface Publishing {
  readonly place: PublishTarget
  readonly owner: PageOwner & { readonly installation: number }
  /** Our runs of the commit. */
  readonly runs: readonly OurCheckRun[]
  /** Whether a run is written although the same stands there. */
  readonly again?: boolean
}

/**
 * Publishes each check with the most severe decision of its bases. `evaluated`: the pull request itself comes first;
 * `led`: bases that the head has no pull request into.
 */
export async function publishChecks(
  context: WorkerContext,
  { place, owner, runs, again }: Publishing,
  checks: readonly NamedCheck[],
  evaluated: readonly [EvaluatedPull, ...EvaluatedPull[]],
  led: readonly LedVerdict[],
): Promise<PublishedChecks> {
  const [own, ...others] = evaluated
  let published: PublishedChecks = { shown: own.said, written: false }
  for (const check of checks) {
    const counted = others.filter(({ pull }) => check.bases.includes(pull.base.ref))
    const said = worstOfBases(
      worstOfHead([own, ...counted]),
      led.filter(({ base }) => check.bases.includes(base)),
    )
    const detailsUrl = await keepPage(context, owner, check.name, said, own.pull)
    const record = () => recordVerdict(context, { ...owner, pull: own.pull.number }, place.app, check.name, said)
    const written = (await publishVerdict(place, check, said, { runs, detailsUrl, again, record })) || published.written
    const isWorse = decisionOf(said).severity > decisionOf(published.shown).severity
    published = isWorse || check === checks[0] ? { shown: said, written, detailsUrl } : { ...published, written }
  }
  return published
}
