import { BailiwickError } from '../../src/base/errors.ts'
import { prose } from '../../src/base/markup.ts'
import { readCheckRun } from '../../src/github/checks.ts'
import { writeReply } from '../../src/github/comments.ts'
import { readRole } from '../../src/github/people.ts'
import { listPullRequestsOf, type PullRequest, readPullRequest } from '../../src/github/pull-request.ts'
import type { Attempt, CheckAction } from '../../src/receive/queue.ts'
import { openError } from '../../src/report/check-run.ts'
import { isTenancyCheck } from '../../src/verdict/check-names.ts'
import { applyFixes as applied, type Fix } from '../../src/verdict/fixes.ts'
import type { DecisionKind } from '../../src/verdict/trail-entry.ts'
import { requestWaivers } from '../commands/waive.ts'
import { openRepository } from '../fleets/github-installation.ts'
import type { OpenedRepository, WorkerContext } from '../fleets/worker-context.ts'
import { type CommitOutcome, fixesAtHead, readFixes, textsOf } from '../gate/commit-outcome.ts'
import { evaluatePullRequest } from '../gate/evaluate-pull-request.ts'
import { openPlace, type PublishTarget } from '../gate/publish-verdict.ts'
import { commitRecorded, recordButton } from '../gate/record-decision.ts'
import { asBailiwickError, isTriedAgain } from '../job-error.ts'

/**
 * Handles a button of our check run, if GitHub confirms that the person has write access now; otherwise it is ignored.
 * Errors are posted on the pull request.
 */
export async function checkAction(context: WorkerContext, data: CheckAction, attempt: Attempt): Promise<void> {
  const reader = await context.app.reader(data.installation)
  const run = await readCheckRun(reader, await context.app.identity(), data, data.check)
  if (run === undefined || !isTenancyCheck(run.name)) return
  const role = await readRole(reader, data, data.login)
  if (role !== 'admin' && role !== 'maintain' && role !== 'write') {
    return context.log.warn({ ...data }, 'check action ignored: the sender has no write access')
  }
  const subject = await openRepository(context, data, reader)
  if (!subject) return
  const place = await openPlace(context, data, subject.repository.id)
  for (const { number } of await listPullRequestsOf(reader, data, run.headSha)) {
    const pull = await readPullRequest(reader, data, number)
    if (pull?.state !== 'open' || pull.head.sha !== run.headSha) continue
    const answer = await act(context, place, subject, pull, data, attempt)
    if (answer !== undefined) {
      await writeReply(place.octokit, place.app, data, { issue: number, about: data.check, body: prose(answer) })
    }
  }
}

/** The reply; undefined if none is needed. */
async function act(
  context: WorkerContext,
  place: PublishTarget,
  subject: OpenedRepository,
  pull: PullRequest,
  { action, login, check }: CheckAction,
  attempt: Attempt,
): Promise<string | undefined> {
  try {
    const { decision, run } = BUTTONS[action]
    const { answer, fleets } = await run({ context, place, subject, pull, login, attempt })
    await recordButton(context, subject, pull, { kind: decision, check, login, fleets })
    return answer
  } catch (error) {
    if (isTriedAgain(error, attempt)) throw error
    const { message, fix } = openError(asBailiwickError(error), subject.repository.url)
    context.log.warn({ err: error, login }, 'check action failed')
    return error instanceof BailiwickError ? `${message}. ${fix ?? ''}` : message
  }
}

const DAY_MS = 86_400_000
const WAIVED_DAYS = 30

/** A check run button that was pressed on a pull request. */
interface Pressed {
  readonly context: WorkerContext
  readonly place: PublishTarget
  readonly subject: OpenedRepository
  readonly pull: PullRequest
  readonly login: string
  readonly attempt: Attempt
}

interface Button {
  /** The decision kind that the trail records. */
  readonly decision: DecisionKind
  /** `fleets`: addresses of the fleets that the button changed or requested something for. */
  run(pressed: Pressed): Promise<{ readonly answer: string | undefined; readonly fleets: readonly string[] }>
}

const NOT_FIXED = {
  fork: 'The fixes were not applied: the branch is in a fork, which the App never writes to.',
  nothing: 'No fix was applied: no finding has a certain fix anymore.',
  committed: undefined,
  moved: undefined,
}

const BUTTONS: Readonly<Record<CheckAction['action'], Button>> = {
  fix: { decision: 'fix', run: fix },
  waive: { decision: 'waiver', run: askForWaivers },
}

async function fix({ context, place, subject, pull, login, attempt }: Pressed) {
  const evaluated = await evaluatePullRequest(context, subject, pull, attempt)
  const outcome = await applyFixes(context, place, subject, pull, evaluated, login)
  // if the head moved meanwhile, the verdict of the new head offers the remaining fixes
  const fleet = evaluated.context.fleet?.repository
  return { answer: NOT_FIXED[outcome], fleets: outcome === 'committed' && fleet !== undefined ? [fleet] : [] }
}

async function askForWaivers({ context, place, subject, pull, login }: Pressed) {
  const until = new Date(Date.now() + WAIVED_DAYS * DAY_MS).toISOString().slice(0, 10)
  const reason = `requested with the button of the check on ${place.owner}/${place.repo}#${pull.number}`
  const opened = await requestWaivers(context, subject, pull, { by: login, reason, until })
  const where = opened.length === 1 ? 'a pull request' : `${opened.length} pull requests`
  const answer = `Requested a waiver until ${until}: ${where} in the fleet repository. Complete the reason there; a fleet admin then approves it.`
  return { answer, fleets: opened.map(({ fleet }) => fleet) }
}

/** The result of applying fixes. */
type Applied = 'committed' | 'nothing' | 'moved' | 'fork'

/**
 * Commits all certain fixes of a verdict to the branch of its pull request, as one commit on the evaluated head.
 * `fork`: the branch is in another owner's repository, which is never written to.
 */
async function applyFixes(
  context: WorkerContext,
  { octokit, app }: Pick<PublishTarget, 'octokit' | 'app'>,
  subject: OpenedRepository,
  pull: PullRequest,
  evaluated: CommitOutcome,
  login: string,
): Promise<Applied> {
  if (pull.head.fork) return 'fork'
  const fixes = readFixes(evaluated)
  if (fixes.length === 0 || !evaluated.tree) return 'nothing'
  const { repository, installation } = subject
  const head = await installation.content(repository, pull.head.sha)
  const here = fixesAtHead(fixes, evaluated.tree, head)
  const texts = textsOf(head)
  const modes = new Map(head.entries.map(({ path, mode }) => [path, mode]))
  const files = [...Map.groupBy(here, fix => fix.path)].map(([path, ofFile]) => ({
    path,
    content: applied(texts(path) ?? '', ofFile),
    mode: modes.get(path) === '100755' ? ('100755' as const) : ('100644' as const),
  }))
  if (files.length === 0) return 'nothing'
  const name = { owner: repository.owner, repo: repository.name }
  const message = messageOf(here, login)
  const url = evaluated.context.fleet?.repository
  const act = { context, app, fleet: url === undefined ? undefined : { installation: installation.id, url } }
  const commit = { branch: pull.head.ref, head: pull.head.sha, files, message }
  const sha = await commitRecorded(act, octokit, name, pull.number, commit)
  return sha === undefined ? 'moved' : 'committed'
}

/** Names rules only: a path may contain a keyword by which GitHub closes an issue. */
function messageOf(fixes: readonly Fix[], login: string): string {
  const rules = [...new Set(fixes.flatMap(fix => fix.findings.map(finding => finding.rule)))].sort()
  const subject = fixes.length === 1 ? `Fix ${rules[0]}` : `Fix ${fixes.length} findings of Bailiwick`
  return [subject, '', ...rules.map(rule => `- ${rule}`), '', `Requested by ${login}.`].join('\n')
}
