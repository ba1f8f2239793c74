import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { evaluatedEarlier } from '../evaluate/affected-places.ts'
import type { FleetAnswer } from '../fleets/evaluate-change.ts'
import type { Pin } from '../fleets/source-reader.ts'
import { settleAndAsk } from './settle-and-ask.ts'

/** So many repositories are settled at once, before anything else is evaluated; more are by jobs of their own. */
const AT_ONCE = 20

/**
 * Updates the checks of every repository whose gated branches changed with a push: on a newly followed branch, passing
 * checks of open pull requests do not cover it. If a fleet fails to build, or builds again, every gated base loses its
 * verdict, and the sweep evaluates them. `before`: the previous commit of the branch, if known.
 */
export async function settleFollowed(
  context: WorkerContext,
  { installation, octokit }: OpenedRepository,
  head: Pin,
  before: string | undefined,
  answers: readonly FleetAnswer[],
): Promise<void> {
  if (before === undefined) return // what is gated follows from what a branch declares, not from its being there
  const earlier = await evaluatedEarlier(context, installation, { ...head, commit: before })
  const [then, now] = [branchesOf(earlier ?? []), branchesOf(answers)]
  const urls = new Set([...then.keys(), ...now.keys()].filter(url => then.get(url) !== now.get(url)))
  const changed = (await installation.repositories()).filter(({ url, archived }) => urls.has(url) && !archived)
  for (const [index, repository] of changed.entries()) {
    const name = { installation: installation.id, owner: repository.owner, repo: repository.name }
    if (index < AT_ONCE) await settleAndAsk(context, { installation, repository, octokit })
    else await context.queue.add('settle-checks', name)
  }
  if (darkOf(earlier ?? []) !== darkOf(answers))
    await context.queue.add('sweep-installation', { installation: installation.id })
}

/** The fleets whose sources are not known, as one text. */
function darkOf(answers: readonly FleetAnswer[]): string {
  return JSON.stringify(answers.flatMap(({ place, isDark }) => (isDark ? [place.repository.url] : [])).sort())
}

/** By repository: the branches that these fleets follow or list, as one text. */
function branchesOf(answers: readonly FleetAnswer[]): ReadonlyMap<string, string> {
  const all = answers.flatMap(({ gated = [] }) => gated)
  const byUrl = Map.groupBy(all, ({ url }) => url)
  const text = (branches: readonly { branch: string }[]) =>
    JSON.stringify([...new Set(branches.map(({ branch }) => branch))].sort())
  return new Map([...byUrl].map(([url, branches]) => [url, text(branches)]))
}
