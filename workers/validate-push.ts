import { listOpenPullRequests } from '../src/github/pull-request.ts'
import type { Attempt, ValidatePush } from '../src/queue/queue.ts'
import { findRepository } from './combination/find-repository.ts'
import { githubInstallation } from './combination/github-installation.ts'
import { judgeChange } from './combination/judge-change.ts'
import { asBailiwickError, isPassing } from './job-error.ts'
import { outcomeOf } from './verdict/outcome-of.ts'
import { type Place, sayVerdict } from './verdict/say-verdict.ts'
import { strictest } from './verdict/strictest.ts'
import type { WorkerContext } from './worker-context.ts'

/**
 * Judges one commit of a branch in the combination that it makes and says so on it, then has the clusters that follow it
 * looked after and the open pull requests onto it judged again (what was green against the old base may be red now).
 */
export async function validatePush(context: WorkerContext, data: ValidatePush, attempt: Attempt): Promise<void> {
  const octokit = await context.app.client(data.installation)
  const place: Place = { octokit, app: await context.app.identity(), owner: data.owner, repo: data.repo }
  const installation = githubInstallation(context, data.installation, octokit)
  const repository = await findRepository(installation, { owner: data.owner, repo: data.repo })
  if (!repository) return
  const where = { kind: 'branch', repository: repository.url, headSha: data.sha } as const
  try {
    const head = { url: repository.url, branch: data.branch, commit: data.sha }
    const answers = await judgeChange(context, installation, { head })
    if (answers.length === 0) return
    const { outcome, ...statement } = outcomeOf(answers, repository.url, 'branch')
    const judged = { outcome, context: { ...where, ...statement } }
    const said = await strictest(context, { installation, repository, octokit }, judged, attempt)
    await sayVerdict(place, said.outcome, said.context)
    await wakeClusters(
      context,
      answers.map(answer => answer.place.repository.url),
    )
    for (const pull of await listOpenPullRequests(octokit, data, data.branch)) {
      const { installation: id, owner, repo } = data
      await context.queue.add('validate-pull-request', { installation: id, owner, repo, pull: pull.number })
    }
  } catch (error) {
    if (isPassing(error) && !attempt.lastAttempt) throw error
    context.log.error({ err: error, commit: `${repository.url}@${data.sha}` }, 'a push could not be judged')
    await sayVerdict(place, asBailiwickError(error), where)
  }
}

async function wakeClusters(context: WorkerContext, fleets: readonly string[]): Promise<void> {
  for (const { name, fleet, mode } of context.bindings) {
    if (mode === 'reconcile' && fleets.includes(fleet)) await context.queue.add('reconcile', { cluster: name })
  }
}
