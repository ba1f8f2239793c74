import { checkRun } from './check-run.ts'
import { evaluateAgain } from './evaluate-again.ts'
import type { EventJobs, InstallationEvent, Payload, RepositoryEvent } from './event-jobs.ts'
import { issues } from './issues.ts'
import { pullRequest } from './pull-request.ts'
import { push } from './push.ts'
import { repository } from './repository.ts'
import { surveyInstallation } from './survey-installation.ts'

/** A ruleset of a repository or of the whole organization changed: which checks it requires is asked of GitHub. */
const repositoryRuleset: EventJobs<'repository_ruleset'> = {
  event: 'repository_ruleset',
  jobs: (_, place) => surveyInstallation(place),
}

/**
 * A review that agrees, objects, or is taken back may meet a demand. What it says is asked of GitHub; a review that only
 * comments changes nothing: https://docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request_review
 */
const pullRequestReview: EventJobs<'pull_request_review'> = {
  event: 'pull_request_review',
  jobs: (payload, place) => {
    const counts = payload.action === 'dismissed' || (payload.action === 'submitted' && decides(payload.review.state))
    return counts ? [{ name: 'validate-pull-request', data: { ...place, pull: payload.pull_request.number } }] : []
  },
}

function decides(state: string): boolean {
  return ['approved', 'changes_requested'].includes(state.toLowerCase())
}

const BRANCH = 'refs/heads/'

/**
 * A merge queue asks what its group would make of the branch; without an answer on the group's own commit nothing of it
 * is ever merged: https://docs.github.com/en/webhooks/webhook-events-and-payloads#merge_group
 */
const mergeGroup: EventJobs<'merge_group'> = {
  event: 'merge_group',
  jobs: ({ action, merge_group: group }, place) => {
    if (action !== 'checks_requested' || !group.base_ref.startsWith(BRANCH)) return []
    const branch = group.base_ref.slice(BRANCH.length)
    return [{ name: 'validate-merge-group', data: { ...place, branch, sha: group.head_sha, base: group.base_sha } }]
  },
}

/**
 * `/bailiwick ...` on the first line of a new comment by a person. Not edited comments, not quoted replies, not bots
 * (ours included). What it says and whether the person may is the worker's question, which GitHub answers.
 */
const issueComment: EventJobs<'issue_comment'> = {
  event: 'issue_comment',
  jobs: (payload, place) => {
    if (payload.action !== 'created' || isFromBot(payload) || !isCommand(payload.comment.body)) return []
    return [{ name: 'command', data: { ...place, issue: payload.issue.number, comment: payload.comment.id } }]
  },
}

function isFromBot({ comment, sender }: Payload<'issue_comment'>): boolean {
  return sender.type !== 'User' || comment.user?.type !== 'User' || Boolean(comment.performed_via_github_app)
}

function isCommand(body: string): boolean {
  return /^\/bailiwick(?:[ \t\r\n]|$)/.test(body)
}

const BEGINS = ['created', 'unsuspend', 'new_permissions_accepted']

/** The App may work in an account (again, or with more rights): the first report, and all that is open there. */
const installation: EventJobs<'installation'> = {
  event: 'installation',
  jobs: ({ action }, place) => (BEGINS.includes(action) ? surveyInstallation(place) : []),
}

/** Repositories that came are evaluated; one that went may have been the source of a fleet. */
const installationRepositories: EventJobs<'installation_repositories'> = {
  event: 'installation_repositories',
  jobs: (_, place) => surveyInstallation(place),
}

/** "Re-run all checks" of ours: https://docs.github.com/en/webhooks/webhook-events-and-payloads#check_suite */
const checkSuite: EventJobs<'check_suite'> = {
  event: 'check_suite',
  jobs: ({ action, check_suite: suite }, place, us) => {
    if (action !== 'rerequested' || suite.app?.id !== us) return []
    return evaluateAgain(place, suite.head_sha, suite.head_branch, { rerun: true })
  },
}

/** Whatever happened to a rule: which checks it requires, and of which pull requests, is asked of GitHub. */
const branchProtectionRule: EventJobs<'branch_protection_rule'> = {
  event: 'branch_protection_rule',
  jobs: (_, place) => surveyInstallation(place),
}

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
