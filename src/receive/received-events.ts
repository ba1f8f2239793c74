import type { Context } from 'probot'
import type { JobName, Jobs } from './queue.ts'

/** A ruleset of a repository or of the whole organization changed: which checks it requires is asked of GitHub. */
const repositoryRuleset: EventJobs<'repository_ruleset'> = (_, place) => surveyInstallation(place)

/**
 * A review that agrees, objects, or is taken back may meet a required approval; one that only comments changes nothing:
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request_review
 */
const pullRequestReview: EventJobs<'pull_request_review'> = (payload, place) => {
  const counts = payload.action === 'dismissed' || (payload.action === 'submitted' && decides(payload.review.state))
  return counts ? [{ name: 'validate-pull-request', data: { ...place, pull: payload.pull_request.number } }] : []
}

function decides(state: string): boolean {
  return ['approved', 'changes_requested'].includes(state.toLowerCase())
}

const BRANCH = 'refs/heads/'

/**
 * A merge queue asks for a verdict on what its group would make of the branch; without an answer on the group's own
 * commit it never merges: https://docs.github.com/en/webhooks/webhook-events-and-payloads#merge_group
 */
const mergeGroup: EventJobs<'merge_group'> = ({ action, merge_group: group }, place) => {
  if (action !== 'checks_requested' || !group.base_ref.startsWith(BRANCH)) return []
  const branch = group.base_ref.slice(BRANCH.length)
  return [{ name: 'validate-merge-group', data: { ...place, branch, sha: group.head_sha, base: group.base_sha } }]
}

/**
 * `/bailiwick ...` on the first line of a new comment by a person. Not edited comments, not quoted replies, not bots
 * (ours included). The worker parses it and asks GitHub whether the person may run it.
 */
const issueComment: EventJobs<'issue_comment'> = (payload, place) => {
  if (payload.action !== 'created' || isFromBot(payload) || !isCommand(payload.comment.body)) return []
  return [{ name: 'command', data: { ...place, issue: payload.issue.number, comment: payload.comment.id } }]
}

function isFromBot({ comment, sender }: Payload<'issue_comment'>): boolean {
  return sender.type !== 'User' || comment.user?.type !== 'User' || Boolean(comment.performed_via_github_app)
}

function isCommand(body: string): boolean {
  return /^\/bailiwick(?:[ \t\r\n]|$)/.test(body)
}

const BEGINS = ['created', 'unsuspend', 'new_permissions_accepted']

/** The App may work in an account (again, or with more rights): the first report, and all that is open there. */
const installation: EventJobs<'installation'> = ({ action }, place) =>
  BEGINS.includes(action) ? surveyInstallation(place) : []

/** Repositories that came are evaluated; one that went may have been the source of a fleet. */
const installationRepositories: EventJobs<'installation_repositories'> = (_, place) => surveyInstallation(place)

/** "Re-run all checks" of ours: https://docs.github.com/en/webhooks/webhook-events-and-payloads#check_suite */
const checkSuite: EventJobs<'check_suite'> = ({ action, check_suite: suite }, place, us) => {
  if (action !== 'rerequested' || suite.app?.id !== us) return []
  return evaluateAgain(place, suite.head_sha, suite.head_branch, { rerun: true })
}

/** Whatever happened to a rule: which checks it requires, and of which pull requests, is asked of GitHub. */
const branchProtectionRule: EventJobs<'branch_protection_rule'> = (_, place) => surveyInstallation(place)

type Each<E extends RepositoryEvent | InstallationEvent> = { readonly [N in E]: EventJobs<N> }

/**
 * "Re-run" and the buttons of our own check runs. Other Apps' runs and their buttons are theirs; `created` and
 * `completed` are our own doing: https://docs.github.com/en/webhooks/webhook-events-and-payloads#check_run
 */
const checkRun: EventJobs<'check_run'> = (payload, place, us) => {
  if (payload.check_run.app?.id !== us) return []
  if (payload.action === 'rerequested') return again(payload, place)
  if (payload.action !== 'requested_action' || payload.sender.type !== 'User') return []
  const action = payload.requested_action?.identifier
  // who pressed it wants to see that something happened, also where the verdict is the same
  if (action === 'evaluate') return again(payload, place)
  if (action !== 'fix' && action !== 'waive') return []
  return [
    { name: 'check-action', data: { ...place, check: payload.check_run.id, action, login: payload.sender.login } },
  ]
}

/**
 * An issue that requests a new tenant: opened with the form, edited, or labelled so later. Not pull requests, not bots.
 * The worker reads its text again.
 */
const issues: EventJobs<'issues'> = (payload, place) => {
  if (payload.sender.type !== 'User' || !asksForTenant(payload)) return []
  return [{ name: 'tenant-request', data: { ...place, issue: payload.issue.number } }]
}

/**
 * A pull request that is new, moved, aims elsewhere, or of which people decided something is evaluated. Retargeting counts,
 * because a verdict belongs to one base branch. A closed one leaves its check run to the others with the same head:
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request
 */
const pullRequest: EventJobs<'pull_request'> = (payload, place) => {
  const { number: pull, head } = payload.pull_request
  const jobs: AskedJob[] = []
  if (asksForVerdict(payload)) jobs.push({ name: 'validate-pull-request', data: { ...place, pull } })
  if (payload.action === 'closed')
    jobs.push({ name: 'evaluate-commit', data: { ...place, sha: head.sha, closed: pull } })
  if (payload.action === 'closed' && !payload.pull_request.merged && head.ref.startsWith(ONBOARDING)) {
    jobs.push({ name: 'withdraw-access', data: { ...place, pull } })
  }
  if (payload.action === 'closed' && payload.pull_request.merged && head.ref.startsWith(OFFBOARDING)) {
    jobs.push({ name: 'settle-offboarding', data: { ...place, pull } })
  }
  return jobs
}

/**
 * A branch that moved is evaluated, whichever it is: some source may follow it. A tag, or a branch that is gone, has no
 * commit of its own to say anything on: who follows it is evaluated.
 */
const push: EventJobs<'push'> = ({ ref, deleted, before, after }, { installation, owner, repo }) => {
  const isGone = deleted || NOTHING.test(after)
  if (ref.startsWith(BRANCH) && !isGone) {
    const data = { installation, owner, repo, branch: ref.slice(BRANCH.length), sha: after }
    // whom the push concerns is what differs from what was there
    return [{ name: 'validate-push', data: NOTHING.test(before) ? data : { ...data, before } }]
  }
  return [{ name: 'evaluate-followers', data: { installation, owner, repo, ref }, delayMs: SETTLE_MS }]
}

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

/**
 * A repository that is another one now, or elsewhere, or seen by others: sources that name it mean something else.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#repository
 */
const repository: EventJobs<'repository'> = (payload, place) =>
  changesMeaning(payload) ? surveyInstallation(place) : []

/** Every event that the App receives and that belongs to an installation as a whole. */
export const installationEvents: Each<InstallationEvent> = {
  branch_protection_rule: branchProtectionRule,
  installation,
  installation_repositories: installationRepositories,
  repository,
  repository_ruleset: repositoryRuleset,
}

/** Events of one repository; app.yml subscribes to them. */
type RepositoryEvent =
  | 'check_run'
  | 'check_suite'
  | 'issue_comment'
  | 'issues'
  | 'merge_group'
  | 'pull_request'
  | 'pull_request_review'
  | 'push'

/** Events that concern an installation, whether or not they name a repository of it. */
type InstallationEvent =
  | 'branch_protection_rule'
  | 'installation'
  | 'installation_repositories'
  | 'repository'
  | 'repository_ruleset'

/** The GitHub events that the App receives. */
export type ReceivedEvent = RepositoryEvent | InstallationEvent

/** What GitHub sends with an event. */
export type Payload<E extends ReceivedEvent> = Context<E>['payload']

/** A job that an event asks for: keys only, nothing of the payload is trusted later on. */
export type AskedJob = {
  [N in JobName]: { readonly name: N; readonly data: Jobs[N]; readonly delayMs?: number }
}[JobName]

/** The jobs that one event asks for. Decides whether, never what. `us`: our App's id. */
export type EventJobs<E extends ReceivedEvent> = (
  payload: Payload<E>,
  place: PlaceOf<E>,
  us: number,
) => readonly AskedJob[]

type PlaceOf<E extends ReceivedEvent> = E extends RepositoryEvent ? RepositoryTarget : InstallationPlace

/** The installation that an event concerns. */
interface InstallationPlace {
  readonly installation: number
}

/** Where an event happened. */
interface RepositoryTarget extends InstallationPlace {
  readonly owner: string
  readonly repo: string
}

/** Branches of ours from which tenants are onboarded. */
const ONBOARDING = 'bailiwick/onboard-'
/** And from which they are offboarded. */
const OFFBOARDING = 'bailiwick/offboard-'

function asksForVerdict(payload: Payload<'pull_request'>): boolean {
  switch (payload.action) {
    case 'opened':
    case 'synchronize':
    case 'reopened':
    case 'ready_for_review':
    case 'converted_to_draft':
      return true
    case 'edited':
      return payload.changes.base !== undefined
    case 'labeled':
    case 'unlabeled':
      return isOurLabel(payload.label?.name)
    default:
      return false
  }
}

/** Whether a label is one of ours; GitHub keeps the case of labels and ignores it. */
function isOurLabel(name: string | undefined): boolean {
  return name?.toLowerCase().startsWith('bailiwick/') ?? false
}

/** What git writes for a branch that is not there. */
const NOTHING = /^0+$/
/** A release pushes several tags at once. */
const SETTLE_MS = 1_000

function again({ check_run: run }: Payload<'check_run'>, place: RepositoryTarget) {
  return evaluateAgain(place, run.head_sha, run.check_suite?.head_branch, { rerun: true })
}

/**
 * Has what stands on a commit evaluated again: the pull requests that it is the head of, and the branch that GitHub names
 * for it (none for a fork's: docs, rest/checks). `rerun`: GitHub put the suite back to queued and waits for a run.
 */
function evaluateAgain(
  { installation, owner, repo }: RepositoryTarget,
  sha: string,
  branch: string | null | undefined,
  asked: { readonly rerun?: true } = {},
): readonly AskedJob[] {
  return [
    { name: 'evaluate-commit', data: { installation, owner, repo, sha, ...asked } },
    ...(branch ? [{ name: 'validate-push', data: { installation, owner, repo, branch, sha, ...asked } } as const] : []),
  ]
}

/** What the issue form for a new tenant puts on its issues, where the repository has that label. */
const LABEL = 'tenant-request'
/** How the body begins that the form makes: the heading of its first field. */
const FORM = /^\s*### Tenant\b/

function asksForTenant(payload: Payload<'issues'>): boolean {
  if (payload.action === 'labeled') return isLabel(payload.label?.name)
  if (!['opened', 'edited', 'reopened'].includes(payload.action)) return false
  const { body, labels } = payload.issue
  return FORM.test(body ?? '') || (labels?.some(label => isLabel(label?.name)) ?? false)
}

function isLabel(name: string | undefined): boolean {
  return name?.toLowerCase() === LABEL
}

function changesMeaning(payload: Payload<'repository'>): boolean {
  switch (payload.action) {
    case 'renamed':
    case 'transferred':
    case 'archived':
    case 'unarchived':
    case 'deleted':
    case 'privatized':
    case 'publicized':
      return true
    case 'edited':
      return payload.changes.default_branch !== undefined
    default:
      return false
  }
}

/** A click that changes a dozen things makes as many events: one look serves them all. */
const SURVEY_SETTLE_MS = 5_000

/** Has one installation looked at as a whole: what is open there, and whether its gate is real. */
function surveyInstallation(place: InstallationPlace): readonly AskedJob[] {
  const { installation } = place
  return [
    { name: 'sweep-installation', data: { installation } },
    { name: 'survey', data: { installation }, delayMs: SURVEY_SETTLE_MS },
  ]
}
