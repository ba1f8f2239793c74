import type { ClusterPage, NodeState } from '../../src/report/applied/cluster-page.ts'
import { nodeState } from '../../src/report/applied/node-states.ts'
import { applyViewFor } from '../../src/report/apply-view.ts'
import type { DriftNote } from '../../src/report/drift-note.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import { findRepository } from '../fleets/find-repository.ts'
import { narrowerSources } from '../fleets/narrower-sources.ts'
import { commitOf } from './applied-groups.ts'
import type { Reporter, RunReport } from './run-report.ts'

/** A page is kept for days only: one that stays the same is stored again now and then. */
const RENEW_MS = 3_600_000
/** How many corrections a page lists: the oldest go first. */
const MAX_DRIFT = 100
const NARROWER = 'The details are in a source that fewer people can see than this repository.'

type Report = RunReport & { readonly isRunning: boolean }

/**
 * Stores the page of the cluster for each repository that something of it comes from, and has the comment of each commit
 * written whose nodes are in another state now.
 */
export async function keepClusterPages(reporter: Reporter, report: Report): Promise<void> {
  const { fleet, approved, problem, applied } = report
  const keys = [...new Set([...approved.nodes.map(({ key }) => key), ...applied.map(({ key }) => key)])]
  const commits = new Map(keys.map(key => [key, commitOf(fleet, approved, key)]))
  // what ended the run is the platform's
  const urls = problem === undefined ? new Set([...commits.values()].map(({ url }) => url)) : new Set<string>()
  for (const url of new Set([fleet.url, ...urls])) {
    const repository = await findRepository(reporter.installation, { url })
    if (!repository) continue
    const shown = url === fleet.url ? keys : keys.filter(key => commits.get(key)?.url === url)
    await keepClusterPage(reporter, report, { url, repository, keys: shown, commits })
  }
}

interface PageFor {
  readonly url: string
  readonly repository: ReadableRepository
  readonly keys: readonly string[]
  readonly commits: ReadonlyMap<string, { readonly url: string; readonly commit: string }>
}

async function keepClusterPage(reporter: Reporter, report: Report, wanted: PageFor): Promise<void> {
  const { memory, context } = reporter
  const { cluster, isRunning, problem } = report
  const { url, repository } = wanted
  const { owner, name: repo, id: repositoryId, visibility } = repository
  const name = `${cluster} ${url}`
  // another process may have stored a later page than this one remembers
  const before = (await context.pages.store.cluster(owner, repo, cluster)) ?? memory.pages.get(name)
  const nodes = await statesOf(reporter, report, wanted, new Map(before?.nodes.map(one => [one.key, one])))
  const place = { kind: 'cluster' as const, owner, repo, repositoryId, visibility, repository: url, cluster }
  const failed = problem === undefined ? {} : { problem }
  const drift = await driftOn(reporter, report, wanted, before)
  const page: ClusterPage = { ...place, at: new Date().toISOString(), isRunning, ...failed, nodes, drift }
  const isSame = before !== undefined && contentOf(before) === contentOf(page)
  if (isSame && Date.now() - Date.parse(before.at) < RENEW_MS) return
  if (!(await context.pages.store.keep(page))) context.log.warn({ cluster, repository: url }, 'page was not stored')
  memory.pages.set(name, page)
  const moved = movedCommits(before, page)
  for (const commit of moved) await askForComment(reporter, repository, commit)
  for (const commit of driftedCommits(before, page)) {
    if (!moved.has(commit)) await askForComment(reporter, repository, commit, 'drift')
  }
}

const contentOf = ({ at: _at, ...page }: ClusterPage): string => JSON.stringify(page)

async function statesOf(
  { installation }: Reporter,
  { fleet, approved, applied, retryAt }: Report,
  { url, keys, commits }: PageFor,
  before: ReadonlyMap<string, NodeState>,
): Promise<NodeState[]> {
  const wanted = new Set(keys)
  const own = applied.filter(({ key }) => wanted.has(key))
  const results = new Map((url === fleet.url ? own : applyViewFor(own, approved.evaluation)).map(one => [one.key, one]))
  const evaluated = new Map(approved.nodes.map(node => [node.key, node]))
  const narrower = new Set(
    await narrowerSources(
      installation,
      url,
      [...commits.values()].map(one => one.url),
    ),
  )
  const now = new Date().toISOString()
  return keys.map(key => {
    const source = commits.get(key)!
    const at = retryAt(key)
    const facts = { here: url, node: evaluated.get(key), repository: source.url, commit: source.commit, now }
    const retry = at === undefined ? {} : { retryAt: new Date(at).toISOString() }
    const state = nodeState(key, results.get(key), { ...facts, ...retry }, before.get(key))
    return narrower.has(source.url) ? withoutDetails(state) : state
  })
}

function withoutDetails({ reason, place: _place, paths: _paths, ...state }: NodeState): NodeState {
  return { ...state, objects: [], ...(reason === undefined ? {} : { reason: NARROWER }) }
}

/** Of the nodes that are shown whole; what a process that ended remembered stays, until there is too much. */
async function driftOn(
  { installation }: Reporter,
  { drift }: Report,
  { url, keys, commits }: PageFor,
  before: ClusterPage | undefined,
): Promise<DriftNote[]> {
  const narrower = new Set(
    await narrowerSources(
      installation,
      url,
      [...commits.values()].map(one => one.url),
    ),
  )
  const shown = new Set(keys.filter(key => !narrower.has(commits.get(key)!.url)))
  const own = drift.filter(({ node }) => shown.has(node))
  const began = new Set(own.map(({ node, object, first }) => JSON.stringify([node, object, first])))
  const earlier = (before?.drift ?? []).filter(
    ({ node, object, first }) => shown.has(node) && !began.has(JSON.stringify([node, object, first])),
  )
  return [...own, ...earlier].slice(0, MAX_DRIFT)
}

/** Commits of the page's own repository of whose nodes something else was corrected than before. */
function driftedCommits(before: ClusterPage | undefined, page: ClusterPage): Set<string> {
  const known = new Set(before?.drift.map(one => JSON.stringify(one)))
  const nodes = new Set(page.drift.flatMap(one => (known.has(JSON.stringify(one)) ? [] : [one.node])))
  const moved = page.nodes.filter(({ key, repository }) => nodes.has(key) && repository === page.repository)
  return new Set(moved.map(({ commit }) => commit))
}

/** Commits of the page's own repository whose nodes are in another state than before. */
function movedCommits(before: ClusterPage | undefined, page: ClusterPage): Set<string> {
  const known = new Map(before?.nodes.map(one => [one.key, JSON.stringify(one)]))
  const isAll = before?.problem !== page.problem
  const moved = page.nodes.filter(one => isAll || known.get(one.key) !== JSON.stringify(one))
  return new Set(moved.flatMap(({ repository, commit }) => (repository === page.repository ? [commit] : [])))
}

async function askForComment(
  { context, installation, memory }: Reporter,
  repository: ReadableRepository,
  sha: string,
  about: 'state' | 'drift' = 'state',
): Promise<void> {
  const delayMs = memory.commentDelayMs(`${repository.id} ${sha}`, about)
  if (delayMs === undefined) return
  const { owner, name: repo } = repository
  await context.queue.add('post-applied', { installation: installation.id, owner, repo, sha }, { delayMs })
}
