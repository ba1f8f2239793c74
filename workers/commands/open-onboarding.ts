import { type OpenedPullRequest, openPullRequest } from '../../src/github/pulls/open-pull-request.ts'
import { pullRequestText } from '../../src/onboard/pull-request-text.ts'
import type { PublishTarget } from '../publish/say-verdict.ts'
import type { PreparedOnboarding } from './prepare-onboarding.ts'

/** The branch on which a tenant is onboarded. */
export const onboardingBranch = (tenant: string): string => `bailiwick/onboard-${tenant}`

/** Opens the pull request of an onboarding, or brings it up to date. `end`: what its text ends with. */
export async function openOnboarding(
  place: PublishTarget,
  { request, plan, branch }: PreparedOnboarding,
  end: string,
): Promise<OpenedPullRequest> {
  const text = pullRequestText(request, plan)
  return openPullRequest(place.octokit, place.app, place, {
    base: branch,
    branch: onboardingBranch(request.tenant),
    files: plan.files.map(({ path, content }) => ({ path, content })),
    title: text.title,
    body: `${text.body}\n\n${end}`,
    message: text.title,
  })
}
