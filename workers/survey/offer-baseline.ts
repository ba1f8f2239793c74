import type { FleetSurvey } from '../../src/audit/survey-fleet.ts'
import { BailiwickError } from '../../src/errors.ts'
import { readOffer } from '../../src/github/pulls/read-offer.ts'
import { baselineOfferText } from '../../src/report/first-report/baseline-offer-text.ts'
import type { BaselineState } from '../../src/report/first-report/facts.ts'
import { BASELINE_FILE } from '../../src/rules/model/baseline.ts'
import type { Installation } from '../context/installation.ts'
import type { FleetPlace } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { PublishTarget } from '../publish/publish-verdict.ts'
import { openRecordedPull } from '../trail/recorded-writes.ts'

/** Branch of the pull request; a fleet on another branch than the default one has its own. */
function baselineBranch({ branch, repository }: FleetPlace): string {
  return branch === repository.defaultBranch ? 'bailiwick/baseline' : `bailiwick/baseline-${branch}`
}

/**
 * Opens a baseline pull request for a fleet that has violations and no baseline file, and updates it while it is open.
 * If people closed or merged it, it is not opened again.
 */
export async function offerBaseline(
  { context, installation }: { readonly context: WorkerContext; readonly installation: Pick<Installation, 'id'> },
  { octokit, app }: Pick<PublishTarget, 'octokit' | 'app'>,
  fleet: FleetPlace,
  survey: FleetSurvey,
  hasFile: boolean,
): Promise<BaselineState> {
  if (hasFile) return { kind: 'present' }
  if (survey.baseline === undefined) return { kind: 'not-needed' }
  const name = { owner: fleet.repository.owner, repo: fleet.repository.name }
  const where = { base: fleet.branch, branch: baselineBranch(fleet) }
  const offer = await readOffer(octokit, app, name, where)
  if (offer.state === 'closed') return { kind: 'declined' }
  const { title, body } = baselineOfferText(survey)
  const act = { context, app, fleet: { installation: installation.id, url: fleet.repository.url } }
  try {
    const { number: pull } = await openRecordedPull(act, octokit, name, {
      ...where,
      ...{ title, body, message: title },
      files: [{ path: BASELINE_FILE, content: survey.baseline }],
    })
    return { kind: 'offered', pull }
  } catch (error) {
    // someone uses a branch of that name: it is theirs
    if (error instanceof BailiwickError && error.code === 'onboard-input') return { kind: 'declined' }
    throw error
  }
}
