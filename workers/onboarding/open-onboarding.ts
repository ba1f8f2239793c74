import type { OpenedPullRequest } from '../../src/github/pulls/open-pull-request.ts'
import { pullRequestText } from '../../src/onboard/pull-request-text.ts'
import { openRecordedPull } from '../trail/recorded-writes.ts'
import { onboardingBranch } from './onboarding-branch.ts'
import type { AccessQuestion } from './plan-read-access.ts'
import type { PreparedOnboarding } from './prepare-onboarding.ts'

/** Opens or updates the pull request that onboards a tenant. `end`: the end of its text; `note`: that of its commit. */
export async function openOnboarding(
  { context, place, installation, fleet }: Pick<AccessQuestion, 'context' | 'place' | 'installation' | 'fleet'>,
  { request, plan, branch }: PreparedOnboarding,
  end: string,
  note = '',
): Promise<OpenedPullRequest> {
  const text = pullRequestText(plan)
  const act = { context, app: place.app, fleet: { installation: installation.id, url: fleet.url } }
  return openRecordedPull(act, place.octokit, place, {
    base: branch,
    branch: onboardingBranch(request.tenant),
    files: plan.files.map(({ path, content }) => ({ path, content })),
    title: text.title,
    body: `${text.body}\n\n${end}`,
    message: note === '' ? text.title : `${text.title}\n\n${note}`,
  })
}
