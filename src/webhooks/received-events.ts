import { branchProtectionRule } from './branch-protection-rule.ts'
import { checkRun } from './check-run.ts'
import { checkSuite } from './check-suite.ts'
import type { EventJobs, InstallationEvent, RepositoryEvent } from './event-jobs.ts'
import { installation } from './installation.ts'
import { installationRepositories } from './installation-repositories.ts'
import { issueComment } from './issue-comment.ts'
import { issues } from './issues.ts'
import { mergeGroup } from './merge-group.ts'
import { pullRequest } from './pull-request.ts'
import { pullRequestReview } from './pull-request-review.ts'
import { push } from './push.ts'
import { repository } from './repository.ts'
import { repositoryRuleset } from './repository-ruleset.ts'

type Each<E extends RepositoryEvent | InstallationEvent> = { readonly [N in E]: EventJobs<N> }

/** Every event that the App receives and that belongs to a repository. */
export const repositoryEvents: Each<RepositoryEvent> = {
  check_run: checkRun,
  check_suite: checkSuite,
  issue_comment: issueComment,
  issues,
  merge_group: mergeGroup,
  pull_request: pullRequest,
  pull_request_review: pullRequestReview,
  push,
}

/** Every event that the App receives and that belongs to an installation as a whole. */
export const installationEvents: Each<InstallationEvent> = {
  branch_protection_rule: branchProtectionRule,
  installation,
  installation_repositories: installationRepositories,
  repository,
  repository_ruleset: repositoryRuleset,
}
