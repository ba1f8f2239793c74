import { type OpenedPullRequest, openPullRequest } from '../../src/github/pulls/open-pull-request.ts'
import { pullRequestText } from '../../src/onboard/pull-request-text.ts'
import type { PublishTarget } from '../publish/say-verdict.ts'
import { onboardingBranch } from './onboarding-branch.ts'
import type { PreparedOnboarding } from './prepare-onboarding.ts'

/** Opens or updates the pull request that onboards a tenant. `end`: the end of its text; `note`: that of its commit. */
export async function openOnboarding(
  place: PublishTarget,
  { request, plan, branch }: PreparedOnboarding,
  end: string,
  note = '',
): Promise<OpenedPullRequest> {
  const text = pullRequestText(request, plan)
  return openPullRequest(place.octokit, place.app, place, {
    base: branch,
    branch: onboardingBranch(request.tenant),
    files: plan.files.map(({ path, content }) => ({ path, content })),
    title: text.title,
    body: `${text.body}\n\n${end}`,
    message: note === '' ? text.title : `${text.title}\n\n${note}`,
  })
}
