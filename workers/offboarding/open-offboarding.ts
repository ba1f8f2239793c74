import { hash } from 'node:crypto'
import { MAX_PRINTS } from '../../src/approval/change-prunes.ts'
import { PRUNE_RUN, pruneRecord } from '../../src/command/prune-record.ts'
import { OVERRIDE_RUN, overrideRecord } from '../../src/command/record.ts'
import { publishCheckRun } from '../../src/github/checks/check-run.ts'
import type { OpenedPullRequest } from '../../src/github/pulls/open-pull-request.ts'
import { type PullRequest, readPullRequest } from '../../src/github/pulls/pull-request.ts'
import { offboardMarker } from '../../src/offboard/offboard-record.ts'
import { offboardText } from '../../src/offboard/offboard-text.ts'
import type { OffboardPlan } from '../../src/offboard/plan.ts'
import { evaluatePullRequest } from '../evaluate/evaluate-pull-request.ts'
import { isFleetAdmin } from '../evaluate/is-fleet-admin.ts'
import { recordDecision } from '../trail/record-decision.ts'
import { openRecordedPull } from '../trail/recorded-writes.ts'
import { type OffboardAsk, type OffboardingPlace, offboardingBranch, requestOf } from './offboarding-place.ts'

/**
 * Opens the pull request of a planned change, and records on its commit that the fleet admin who asked for it approves what
 * it deletes. A crash in between leaves a pull request that the next attempt completes.
 */
export async function openOffboarding(
  here: OffboardingPlace,
  asked: OffboardAsk,
  plan: OffboardPlan,
): Promise<OpenedPullRequest> {
  const { context, place, fleet } = here
  if (plan.stage === 'done') throw new TypeError('there is nothing to open')
  const text = offboardText(asked, plan)
  const { by, comment, issue, at } = asked
  const record = {
    ...{ fleet: fleet.id, ...requestOf(asked), stage: plan.stage, on: plan.clusters, sources: plan.sources },
    ...{ by, comment, issue, at },
  }
  const marker = offboardMarker(record, context.config.privateKey)
  const opened = await openRecordedPull(
    { context, app: place.app, fleet: { installation: here.installation.id, url: fleet.url } },
    place.octokit,
    place,
    {
      base: fleet.defaultBranch,
      branch: offboardingBranch(asked, plan.stage),
      files: plan.files.flatMap(({ path, content }) => (content === null ? [] : [{ path, content }])),
      removed: plan.files.flatMap(({ path, content }) => (content === null ? [path] : [])),
      title: text.title,
      body: `${text.body}\n\nRequested by @${by} in #${issue}.${AGREED}\n\n${marker}`,
      message: `${text.title}\n\n${marker}`,
    },
  )
  await approve(here, asked, opened)
  return opened
}

const AGREED =
  ' The check finds what this change takes away. The command of a fleet admin agrees to it, for exactly this commit. If the check blocks all the same, a fleet admin comments `/bailiwick override REASON`.'

/** The word of the admin counts for exactly the commit that was made for it. */
async function approve(here: OffboardingPlace, asked: OffboardAsk, opened: OpenedPullRequest) {
  const { context, place, reader, installation, fleet, attempt } = here
  const { by, at, comment } = asked
  const pull = await readPullRequest(reader, place, opened.number)
  if (pull?.state !== 'open' || pull.head.sha !== opened.head) return
  if (!(await isFleetAdmin({ installation, octokit: reader }, { repository: fleet, branch: fleet.defaultBranch }, by)))
    return
  const subject = { installation, repository: fleet, octokit: reader }
  const { prunes } = (await evaluatePullRequest(context, subject, pull, attempt)).context
  const common = { headSha: opened.head, conclusion: 'success' as const, annotations: [] }
  if (prunes && prunes.prints.length <= MAX_PRINTS) {
    const { digest, prints } = prunes
    await publishCheckRun(place.octokit, place.app, place, {
      ...pruneRecord({ by, at, digests: [digest], pull: pull.number, prints }),
      ...common,
      name: PRUNE_RUN,
      externalId: `approve-prune:${comment}`,
    })
    await recordWord(here, 'approve-prune', by, pull)
  }
  const reason = `offboarding of tenant ${asked.tenant}, in two pull requests that Bailiwick wrote`
  await publishCheckRun(place.octokit, place.app, place, {
    ...overrideRecord({ by, reason, at, pull: pull.number, base: pull.base.ref }, opened.head),
    ...common,
    name: OVERRIDE_RUN,
    externalId: `override:${comment}`,
  })
  await recordWord(here, 'override', by, pull)
  await evaluateAgain(here, pull)
}

async function evaluateAgain({ context, installation, place }: OffboardingPlace, { number: pull }: PullRequest) {
  const { owner, repo } = place
  await context.queue.add('validate-pull-request', { installation: installation.id, owner, repo, pull })
}

/** Records that an admin's decision applies to a commit of the App as if the admin had made it there. */
async function recordWord(
  { context, installation, fleet, place }: OffboardingPlace,
  kind: 'override' | 'approve-prune',
  who: string,
  { number: pull, head }: PullRequest,
): Promise<void> {
  const about = { repository: `${place.owner}/${place.repo}`, commit: head.sha, pull }
  const id = `${kind} ${about.repository}@${about.commit} ${who}`
  await recordDecision(
    context,
    { installation: installation.id, url: fleet.url },
    { ...about, id, kind, who, result: 'done', revisions: [], digest: hash('sha256', id) },
    { once: true },
  )
}
