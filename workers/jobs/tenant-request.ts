import { hash } from 'node:crypto'
import { BailiwickError } from '../../src/base/errors.ts'
import { removeComment, upsertComment } from '../../src/github/comments.ts'
import { type Issue, readIssue } from '../../src/github/issues.ts'
import { findPullRequest } from '../../src/github/own-pulls.ts'
import { readRole } from '../../src/github/people.ts'
import type { Attempt, TenantRequest } from '../../src/receive/queue.ts'
import { refusalText } from '../../src/surface/command/command-line.ts'
import { PREVIEW_MARKER, previewText } from '../../src/tenants/onboard/pull-request-text.ts'
import { readTenantForm, type TenantForm } from '../../src/tenants/onboard/tenant-form.ts'
import { isAtLeast } from '../commands/command-context.ts'
import { caseOf, githubInstallation, writable } from '../fleets/github-installation.ts'
import { mayReadSource } from '../fleets/source-reader.ts'
import type { WorkerContext, WritableCase } from '../fleets/worker-context.ts'
import { recordDecision } from '../gate/record-decision.ts'
import { finalError } from '../job-error.ts'
import { onboardingBranch, type PreparedOnboarding, prepareOnboarding } from '../tenants/onboarding-access.ts'
import { openWithAccess, refuseForeignRepository, refuseKnownRepository } from '../tenants/open-onboarding.ts'

/** An open issue that asks for a tenant of a fleet. */
interface Asked extends WritableCase {
  readonly issue: Issue
}

/** GitHub adds the labels of a form just after it has created the issue. */
const FRESH_MS = 3_000
/** No objection to the requester: a fleet admin decides. */
const NOBODY = ''

/**
 * Replies to an issue that was opened with the form for a new tenant, with a preview of the tenant. If the author may
 * onboard tenants, it also opens the pull request; otherwise the reply contains the command for a fleet admin.
 */
export async function tenantRequest(context: WorkerContext, data: TenantRequest, attempt: Attempt): Promise<void> {
  const reader = await context.app.reader(data.installation)
  const issue = await readIssue({ ...data, octokit: reader }, data.issue)
  if (!issue?.open || issue.pullRequest || issue.viaApp || issue.author.type !== 'User') return
  const installation = githubInstallation(context, data.installation, reader)
  const fleet = (await installation.designation()).fleets
    .map(({ repository }) => repository)
    .find(({ owner, repo }) => owner === data.owner && repo === data.repo)
  if (!fleet) return
  const subject = await writable(await caseOf(context, attempt, installation, fleet))
  const { writer } = subject
  const sticky = { number: data.issue, marker: PREVIEW_MARKER }
  try {
    const form = readTenantForm(issue.body, new URL(fleet.url).host)
    if (!form) {
      await removeComment(writer, sticky)
      return
    }
    const body = await answer({ ...subject, issue }, form)
    await upsertComment(writer, { ...sticky, body })
  } catch (error) {
    const refused = finalError(error, attempt)
    context.log.warn({ err: error, issue: data.issue }, 'tenant request refused')
    const body = refusalText(refused, 'This tenant cannot be onboarded')
    await upsertComment(writer, { ...sticky, body })
  }
}

async function answer(asked: Asked, { request, team }: TenantForm): Promise<string> {
  const { installation, repository: fleet, issue } = asked
  const { login: by } = issue.author
  const question = { installation, login: by, url: request.url, fleetUrl: fleet.url }
  const prepared = await prepareOnboarding(asked, request, by)
  // a requester who may not read the repository must not learn whether it exists
  const isReader = await mayReadSource(installation, fleet.url, request.url, by)
  if (isReader) await refuseKnownRepository(question, prepared.plan.sources)
  const why = await reasonAgainst(asked, isReader, () => refuseForeignRepository(question))
  const pull = why === undefined ? await openFor(asked, prepared) : await openedFor(asked, request.tenant)
  return previewText(prepared.request, prepared.plan, team, {
    by,
    ...(pull === undefined ? {} : { pull }),
    ...(why === undefined || why === NOBODY || pull !== undefined ? {} : { why }),
  })
}

/** Why no pull request is opened for the requester; undefined if one may be. */
async function reasonAgainst({ writer, issue }: Asked, isReader: boolean, administers: () => Promise<void>) {
  const { login } = issue.author
  const role = await readRole(writer, login)
  const maintains = isAtLeast(role, 'maintain')
  if (!maintains && !isReader) return NOBODY
  try {
    await administers()
  } catch (error) {
    if (!(error instanceof BailiwickError) || error.code !== 'onboard-input') throw error
    return `⚠️ ${refusalText(error, 'The author may not request a tenant for this repository')}`
  }
  if (!maintains) return NOBODY
  // a person with the role triage may edit the issues of others
  const age = Date.parse(issue.updatedAt) - Date.parse(issue.createdAt)
  if (age <= FRESH_MS) return undefined
  return 'This issue was edited after it was opened, and GitHub does not show by whom.'
}

async function openFor(asked: Asked, prepared: PreparedOnboarding): Promise<number> {
  const { issue } = asked
  const about = { prepared, by: issue.author.login, at: issue.updatedAt }
  const { number } = await openWithAccess({ ...asked, ...about }, `Closes #${issue.number}`)
  await record(asked, number)
  return number
}

/** The text of the form stays in the issue; the trail has its hash. */
async function record({ context, installation, repository, owner, repo, issue }: Asked, pull: number): Promise<void> {
  const digest = hash('sha256', issue.body)
  await recordDecision(
    context,
    { installation: installation.id, url: repository.url },
    {
      id: `issue ${issue.number} pull ${pull} ${digest}`,
      ...{ kind: 'onboarding', who: issue.author.login, repository: `${owner}/${repo}`, pull },
      ...{ result: 'done', revisions: [], digest },
    },
  )
}

/** The pull request that an earlier run of this job, or a command here, has opened. */
async function openedFor({ writer, issue }: Asked, tenant: string): Promise<number | undefined> {
  const open = await findPullRequest(writer, onboardingBranch(tenant))
  return open?.body.match(new RegExp(`(?:Closes|Requested in|Asked for in) #${issue.number}\\b`))
    ? open.number
    : undefined
}
