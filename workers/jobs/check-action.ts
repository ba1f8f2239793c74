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
import { openWritable } from '../fleets/github-installation.ts'
import type { WorkerContext, WritableCase } from '../fleets/worker-context.ts'
import { type CommitOutcome, fixesAtHead, readFixes, textsOf } from '../gate/commit-outcome.ts'
import { evaluatePullRequest } from '../gate/evaluate-pull-request.ts'
import { commitRecorded, recordButton } from '../gate/record-decision.ts'
import { finalError } from '../job-error.ts'

/**
 * Handles a button of our check run, if GitHub confirms that the person has write access now; otherwise it is ignored.
 * Errors are posted on the pull request.
 */
export async function checkAction(context: WorkerContext, data: CheckAction, attempt: Attempt): Promise<void> {
  const reader = await context.app.reader(data.installation)
  const asked = { ...data, octokit: reader, app: await context.app.identity() }
  const run = await readCheckRun(asked, data.check)
  if (run === undefined || !isTenancyCheck(run.name)) return
  const role = await readRole(asked, data.login)
  if (role !== 'admin' && role !== 'maintain' && role !== 'write') {
    return context.log.warn({ ...data }, 'check action ignored: the sender has no write access')
  }
  const subject = await openWritable(context, data, attempt, reader)
  if (!subject) return
  for (const { number } of await listPullRequestsOf(subject, run.headSha)) {
    const pull = await readPullRequest(subject, number)
    if (pull?.state !== 'open' || pull.head.sha !== run.headSha) continue
    const answer = await act({ ...subject, pull, login: data.login }, data)
    if (answer !== undefined)
      await writeReply(subject.writer, { issue: number, about: data.check, body: prose(answer) })
  }
}

/** The reply; undefined if none is needed. */
async function act(pressed: Pressed, { action, check }: CheckAction): Promise<string | undefined> {
  const { pull, login } = pressed
  try {
    const { decision, run } = BUTTONS[action]
    const { answer, fleets } = await run(pressed)
    await recordButton(pressed, pull, { kind: decision, check, login, fleets })
    return answer
  } catch (error) {
    const { message, fix } = openError(finalError(error, pressed.attempt), pressed.repository.url)
    pressed.context.log.warn({ err: error, login }, 'check action failed')
    return error instanceof BailiwickError ? `${message}. ${fix ?? ''}` : message
  }
}

const DAY_MS = 86_400_000
const WAIVED_DAYS = 30

/** A check run button that was pressed on a pull request. */
interface Pressed extends WritableCase {
  readonly pull: PullRequest
  readonly login: string
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

async function fix(pressed: Pressed) {
  const evaluated = await evaluatePullRequest(pressed, pressed.pull)
  const outcome = await applyFixes(pressed, evaluated)
  // if the head moved meanwhile, the verdict of the new head offers the remaining fixes
  const fleet = evaluated.context.fleet?.repository
  return { answer: NOT_FIXED[outcome], fleets: outcome === 'committed' && fleet !== undefined ? [fleet] : [] }
}

async function askForWaivers(pressed: Pressed) {
  const { owner, repo, pull, login } = pressed
  const until = new Date(Date.now() + WAIVED_DAYS * DAY_MS).toISOString().slice(0, 10)
  const reason = `requested with the button of the check on ${owner}/${repo}#${pull.number}`
  const opened = await requestWaivers(pressed, pull, { by: login, reason, until })
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
async function applyFixes(pressed: Pressed, evaluated: CommitOutcome): Promise<Applied> {
  const { writer, repository, installation, pull, login } = pressed
  if (pull.head.fork) return 'fork'
  const fixes = readFixes(evaluated)
  if (fixes.length === 0 || !evaluated.tree) return 'nothing'
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
  const commit = { branch: pull.head.ref, head: pull.head.sha, files, message: messageOf(here, login) }
  const fleet = evaluated.context.fleet?.repository
  const sha = await commitRecorded({ ...writer, fleet }, pull.number, commit)
  return sha === undefined ? 'moved' : 'committed'
}

/** Names rules only: a path may contain a keyword by which GitHub closes an issue. */
function messageOf(fixes: readonly Fix[], login: string): string {
  const rules = [...new Set(fixes.flatMap(fix => fix.findings.map(finding => finding.rule)))].sort()
  const subject = fixes.length === 1 ? `Fix ${rules[0]}` : `Fix ${fixes.length} findings of Bailiwick`
  return [subject, '', ...rules.map(rule => `- ${rule}`), '', `Requested by ${login}.`].join('\n')
}
