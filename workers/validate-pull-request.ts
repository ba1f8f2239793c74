import { removeComment, upsertComment } from '../src/github/comment.ts'
import type { Octokit } from '../src/github/octokit.ts'
import { type PullRequest, readPullRequest, readTestMerge, type TestMerge } from '../src/github/pull-request.ts'
import type { Attempt, ValidatePullRequest } from '../src/queue/queue.ts'
import { COMMENT_MARKER, commentOf } from '../src/report/comment.ts'
import type { Outcome, ReportContext } from '../src/report/outcome.ts'
import { githubInstallation } from './combination/github-installation.ts'
import type { Installation, ReadableRepository } from './combination/installation.ts'
import { judgeChange } from './combination/judge-change.ts'
import { changedPaths } from './verdict/changed-paths.ts'
import { asBailiwickError, isPassing } from './verdict/job-error.ts'
import { outcomeOf } from './verdict/outcome-of.ts'
import { type Place, sayVerdict } from './verdict/say-verdict.ts'
import type { WorkerContext } from './worker-context.ts'

interface Said {
  readonly outcome: Outcome
  readonly context: ReportContext
}

/** Judges a pull request as it would be merged now, and says so on its head. Doing it twice says the same thing once. */
export async function validatePullRequest(context: WorkerContext, data: ValidatePullRequest, attempt: Attempt) {
  const octokit = await context.app.client(data.installation)
  const place: Place = { octokit, app: await context.app.identity(), owner: data.owner, repo: data.repo }
  const pull = await readPullRequest(octokit, data, data.pull)
  if (pull?.state !== 'open') return
  const installation = githubInstallation(context, data.installation, octokit)
  const repository = await readableRepository(installation, data)
  if (!repository) return
  const said = await decide(context, { installation, repository, octokit, pull }, attempt)
  const now = await readPullRequest(octokit, data, data.pull)
  // a verdict about an older head is never said of the newer one: its own event has a job of its own
  if (now?.head.sha !== pull.head.sha) return
  await sayVerdict(place, said.outcome, said.context)
  await sayComment(place, data.pull, said)
}

interface Subject {
  readonly installation: Installation
  readonly repository: ReadableRepository
  readonly octokit: Octokit
  readonly pull: PullRequest
}

async function decide(context: WorkerContext, subject: Subject, attempt: Attempt): Promise<Said> {
  const { pull, repository } = subject
  const where = { kind: 'pull-request', repository: repository.url, headSha: pull.head.sha } as const
  try {
    const name = { owner: repository.owner, repo: repository.name }
    const merge = await readTestMerge(subject.octokit, name, pull)
    return await judgeMerge(context, subject, merge, where)
  } catch (error) {
    if (isPassing(error) && !attempt.lastAttempt) throw error
    context.log.error({ err: error, pull: `${repository.url}#${pull.number}` }, 'a pull request could not be judged')
    return { outcome: asBailiwickError(error), context: where }
  }
}

async function judgeMerge(
  context: WorkerContext,
  { installation, repository, pull }: Subject,
  merge: TestMerge,
  where: ReportContext,
): Promise<Said> {
  const pin = { url: repository.url, branch: pull.base.ref }
  const base = { ...pin, commit: merge.base }
  const head = { ...pin, commit: merge.sha, tree: merge.tree }
  const answers = await judgeChange(context, installation, { head, base })
  const { outcome, ...statement } = outcomeOf(answers, repository.url, 'pull-request')
  if (answers.length === 0) return { outcome, context: where }
  const [before, after] = await Promise.all([
    installation.content(repository, base.commit),
    installation.content(repository, head.commit, head.tree),
  ])
  return { outcome, context: { ...where, ...statement, changedPaths: changedPaths(before, after) } }
}

async function sayComment(place: Place, pull: number, { outcome, context }: Said): Promise<void> {
  const text = commentOf(outcome, context)
  const sticky = { number: pull, marker: COMMENT_MARKER }
  if (text === undefined) await removeComment(place.octokit, place.app, place, sticky)
  else await upsertComment(place.octokit, place.app, place, { ...sticky, body: text.slice(COMMENT_MARKER.length + 1) })
}

async function readableRepository(installation: Installation, { owner, repo }: ValidatePullRequest) {
  const repositories = await installation.repositories()
  return repositories.find(one => one.owner === owner && one.name === repo)
}
