import { hash } from 'node:crypto'
import type { SourceLine } from '../../src/base/origin.ts'
import { idOf } from '../../src/cluster/json.ts'
import { publishCheckRun } from '../../src/github/checks.ts'
import type { AppIdentity, RepositoryName } from '../../src/github/client/octokit.ts'
import type { Repository } from '../../src/github/contents/repositories.ts'
import { type FieldLines, lineOfField } from '../../src/kube/field-lines.ts'
import { display, groupOf, type ObjectId } from '../../src/kube/object.ts'
import {
  type AppliedNode,
  type AppliedObject,
  applyReport,
  applyViewFor,
  type DriftNote,
  type NamedField,
} from '../../src/report/apply-report.ts'
import { type ClusterPage, type NodeState, nodeState } from '../../src/report/cluster-page.ts'
import type { EvaluatedNode } from '../../src/rules/model/finding.ts'
import type { TrailAnchor } from '../../src/verdict/trail-entry.ts'
import { findRepository, narrowerSources } from '../fleets/source-reader.ts'
import type { Installation, WorkerContext } from '../fleets/worker-context.ts'
import { recordDecision } from '../gate/record-decision.ts'
import { type Approved, type CommitOf, commitOf, groupByCommit } from './approved-nodes.ts'

/** Publishes the result of a run on each commit that it applied; a repository sees only its own nodes. */
export async function reportApplied(reporter: Reporter, report: RunReport): Promise<void> {
  const { cluster, fleet, approved, problem } = report
  const applied = withLines(report.applied, approved.nodes)
  const stopped = { key: cluster, user: '', outcome: 'failed' as const, reason: problem ?? '', objects: [] }
  for (const group of groupByCommit(fleet, approved, problem === undefined ? applied : [stopped]))
    await reportCommit(reporter, cluster, group, fleet.url, approved)
  await keepPages(reporter, { ...report, applied, isRunning: false })
}

/** Publishes the progress of a running run. */
export async function reportProgress(reporter: Reporter, report: RunReport): Promise<void> {
  const applied = withLines(report.applied, report.approved.nodes)
  await keepPages(reporter, { ...report, applied, isRunning: true })
}

/** Publishes what was corrected since the last run; corrections within seconds are published together. */
export function reportDriftSoon(reporter: Reporter, cluster: string, report: () => RunReport): void {
  const { drifting, pace } = reporter.memory
  if (drifting.has(cluster)) return
  const timer = setTimeout(() => {
    drifting.delete(cluster)
    const { applied, approved, ...rest } = report()
    void keepPages(reporter, { ...rest, approved, applied: withLines(applied, approved.nodes), isRunning: false })
  }, pace.everyMs)
  drifting.set(cluster, timer.unref())
}

/** Errors are only logged: the cluster is applied, whether or not people can read about it. */
async function keepPages(reporter: Reporter, report: RunReport & { readonly isRunning: boolean }): Promise<void> {
  const { log } = reporter.context
  await keepClusterPages(reporter, report).catch(err =>
    log.warn({ err, cluster: report.cluster }, 'cluster page could not be stored'),
  )
}

async function reportCommit(
  reporter: Reporter,
  cluster: string,
  { url, commit, nodes }: ReturnType<typeof groupByCommit>[number],
  fleet: string,
  { evaluation }: Approved,
): Promise<void> {
  const { app, installation, memory } = reporter
  const repository = await findRepository(installation, { url })
  if (!repository) return
  const report = applyReport(cluster, url === fleet ? nodes : applyViewFor(nodes, evaluation), url)
  const externalId = hash('sha256', JSON.stringify(report))
  const key = `${cluster} ${url} ${commit}`
  if (memory.checkRuns.get(key) === externalId) return
  await publishCheckRun(
    { ...repository, octokit: installation.octokit, app },
    {
      ...report,
      headSha: commit,
      externalId,
      quiet: nodes.every(isQuiet),
      beforeWrite: () =>
        recordApply(reporter, { cluster, fleet }, repository, { url, commit, nodes, digest: externalId }),
    },
  )
  memory.checkRuns.set(key, externalId)
}

function isQuiet({ outcome, objects }: AppliedNode): boolean {
  return outcome === 'applied' && objects.every(({ action }) => action === 'unchanged' || action === 'skipped')
}

/** What publishes the results of a cluster's runs. */
export interface Reporter {
  readonly context: WorkerContext
  readonly app: AppIdentity
  readonly installation: Installation
  readonly memory: ReportMemory
}

/** The state of a run. */
interface RunReport {
  readonly cluster: string
  readonly fleet: CommitOf
  readonly approved: Approved
  readonly applied: readonly AppliedNode[]
  /** When a node that failed is tried again, in ms since 1970. */
  readonly retryAt: (key: string) => number | undefined
  /** Corrected drift, latest first. */
  readonly drift: readonly DriftNote[]
  /** Why it ended early. */
  readonly problem?: string
}

/** How soon a first result is posted on a pull request, and how often at most it is updated. */
interface CommentPace {
  readonly firstMs: number
  readonly everyMs: number
  /** How often at most if only drift was corrected. */
  readonly driftMs: number
}

/** Several clusters finish within the first pause; GitHub takes 500 requests an hour that create content. */
export const COMMENT_PACE: CommentPace = { firstMs: 3_000, everyMs: 15_000, driftMs: 600_000 }
/** For a GitHub on this machine. */
export const LOOPBACK_COMMENT_PACE: CommentPace = { firstMs: 30, everyMs: 150, driftMs: 150 }

/** What a process remembers of what it published, only to save requests. */
export class ReportMemory {
  /** The check run of each cluster and commit. */
  readonly checkRuns = new Map<string, string>()
  /** Pages by cluster and address of the repository, as they were stored last: for one that the store dropped. */
  readonly pages = new Map<string, ClusterPage>()
  readonly pace: CommentPace
  readonly #due = new Map<string, number>()
  /** Clusters whose page will soon show what was corrected between two runs. */
  readonly drifting = new Map<string, NodeJS.Timeout>()
  readonly #now: () => number

  constructor(pace: CommentPace, now: () => number = Date.now) {
    this.pace = pace
    this.#now = now
  }

  /** The delay before the comment of this name is written; undefined: one is due already and will have the latest. */
  commentDelayMs(name: string, about: 'state' | 'drift' = 'state'): number | undefined {
    const now = this.#now()
    const { firstMs, everyMs, driftMs } = this.pace
    for (const [other, at] of this.#due) if (at + driftMs < now) this.#due.delete(other)
    const last = this.#due.get(name)
    const isDue = last !== undefined && last > now
    // a comment that waits because of drift only is moved up by another state
    if (isDue && (about === 'drift' || last <= now + everyMs)) return undefined
    const pause = about === 'drift' ? driftMs : everyMs
    const due = isDue ? now + everyMs : Math.max(now + firstMs, (last ?? 0) + pause)
    this.#due.set(name, due)
    return due - now
  }
}

/** Adds the line in git of refused objects, and of the Kustomizations that are not applied. */
export function withLines(applied: readonly AppliedNode[], nodes: readonly EvaluatedNode[]): AppliedNode[] {
  const byKey = new Map(nodes.map(node => [node.key, node]))
  return applied.map(one => {
    const node = byKey.get(one.key)
    const isRefused = one.objects.some(({ action }) => action === 'refused')
    if (!node || (one.outcome === 'applied' && !isRefused)) return one
    const written = isRefused ? writtenOf(node) : new Map<string, never>()
    const objects = one.objects.map(item => {
      const at = item.action === 'refused' ? written.get(keyOf(item.object)) : undefined
      return at ? withPlaces(item, at) : item
    })
    return { ...one, objects, ...(node.declared ? { place: node.declared } : {}) }
  })
}

interface Written {
  readonly text: string
  readonly place?: SourceLine | undefined
  readonly lines?: FieldLines | undefined
}

function withPlaces({ fields, ...item }: AppliedObject, { text, place, lines }: Written): AppliedObject {
  const located = fields?.map(({ field }): NamedField => {
    const at = (lines && lineOfField(text, lines, field)) ?? place
    return { field, ...(at ? { place: at } : {}) }
  })
  return { ...item, ...(place ? { place } : {}), ...(located ? { fields: located } : {}) }
}

function writtenOf({ objects, places, lines }: EvaluatedNode): Map<string, Written> {
  return new Map(
    objects.map((text, at) => [keyOf(idOf(JSON.parse(text))), { text, place: places?.[at], lines: lines?.[at] }]),
  )
}

const keyOf = (id: ObjectId): string => `${groupOf(id.apiVersion)} ${display(id)}`

/** Pages expire after days, so an unchanged one is stored again this often. */
const RENEW_MS = 3_600_000
/** How many corrections a page lists: the oldest go first. */
const MAX_DRIFT = 100
const NARROWER = 'The details are in a source that fewer people can see than this repository.'

type Report = RunReport & { readonly isRunning: boolean }

/**
 * Stores the page of the cluster for each repository that part of it comes from, and enqueues the comment of each
 * commit whose nodes changed their state.
 */
async function keepClusterPages(reporter: Reporter, report: Report): Promise<void> {
  const { fleet, approved, problem, applied } = report
  const keys = [...new Set([...approved.nodes.map(({ key }) => key), ...applied.map(({ key }) => key)])]
  const commits = new Map(keys.map(key => [key, commitOf(fleet, approved, key)]))
  // an error that ended the run concerns the platform
  const urls = problem === undefined ? new Set([...commits.values()].map(({ url }) => url)) : new Set<string>()
  for (const url of new Set([fleet.url, ...urls])) {
    const repository = await findRepository(reporter.installation, { url })
    if (!repository) continue
    const shown = url === fleet.url ? keys : keys.filter(key => commits.get(key)?.url === url)
    const read = [...commits.values()].map(one => one.url)
    const narrower = new Set(await narrowerSources(reporter.installation, url, read))
    await keepClusterPage(reporter, report, { url, repository, keys: shown, commits, narrower })
  }
}

interface PageFor {
  readonly url: string
  readonly repository: Repository
  readonly keys: readonly string[]
  readonly commits: ReadonlyMap<string, { readonly url: string; readonly commit: string }>
  /** Sources that fewer people can see than the repository. */
  readonly narrower: ReadonlySet<string>
}

async function keepClusterPage(reporter: Reporter, report: Report, wanted: PageFor): Promise<void> {
  const { memory, context } = reporter
  const { cluster, isRunning, problem } = report
  const { url, repository } = wanted
  const { owner, repo, id: repositoryId, visibility } = repository
  const name = `${cluster} ${url}`
  // another process may have stored a later page than this one remembers
  const before = (await context.pages.store.cluster(owner, repo, cluster)) ?? memory.pages.get(name)
  const nodes = statesOf(report, wanted, new Map(before?.nodes.map(one => [one.key, one])))
  const place = { kind: 'cluster' as const, owner, repo, repositoryId, visibility, repository: url, cluster }
  const failed = problem === undefined ? {} : { problem }
  const drift = driftOn(report, wanted, before)
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

function statesOf(
  { fleet, approved, applied, retryAt }: Report,
  { url, keys, commits, narrower }: PageFor,
  before: ReadonlyMap<string, NodeState>,
): NodeState[] {
  const wanted = new Set(keys)
  const own = applied.filter(({ key }) => wanted.has(key))
  const results = new Map((url === fleet.url ? own : applyViewFor(own, approved.evaluation)).map(one => [one.key, one]))
  const evaluated = new Map(approved.nodes.map(node => [node.key, node]))
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

/** Drift of the nodes that are shown in full; entries of an earlier process stay, up to the limit. */
function driftOn(
  { drift }: Report,
  { keys, commits, narrower }: PageFor,
  before: ClusterPage | undefined,
): DriftNote[] {
  const shown = new Set(keys.filter(key => !narrower.has(commits.get(key)!.url)))
  const own = drift.filter(({ node }) => shown.has(node))
  const began = new Set(own.map(({ node, object, first }) => JSON.stringify([node, object, first])))
  const earlier = (before?.drift ?? []).filter(
    ({ node, object, first }) => shown.has(node) && !began.has(JSON.stringify([node, object, first])),
  )
  return [...own, ...earlier].slice(0, MAX_DRIFT)
}

/** Commits of the page's own repository for whose nodes other drift was corrected than before. */
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
  repository: Repository,
  sha: string,
  about: 'state' | 'drift' = 'state',
): Promise<void> {
  const delayMs = memory.commentDelayMs(`${repository.id} ${sha}`, about)
  if (delayMs === undefined) return
  const { owner, repo } = repository
  await context.queue.add('post-applied', { installation: installation.id, owner, repo, sha }, { delayMs })
}

interface ApplyReporter {
  readonly context: WorkerContext
  readonly installation: Pick<Installation, 'id'>
  readonly app: AppIdentity
}

/** What a run applied from one commit. */
interface AppliedCommit {
  readonly url: string
  readonly commit: string
  readonly nodes: readonly AppliedNode[]
  /** SHA-256 of what is reported. */
  readonly digest: string
}

/** Records what was applied from a commit in the trail of the cluster's fleet. */
function recordApply(
  { context, installation, app }: ApplyReporter,
  { cluster, fleet }: { readonly cluster: string; readonly fleet: string },
  { owner, repo }: RepositoryName,
  { url, commit, nodes, digest }: AppliedCommit,
): Promise<TrailAnchor | undefined> {
  const outcomes = new Set(nodes.map(({ outcome }) => outcome))
  return recordDecision(
    context,
    { installation: installation.id, url: fleet },
    {
      id: `apply ${cluster} ${owner}/${repo}@${commit} ${digest}`,
      ...{ kind: 'apply', who: `${app.slug}[bot]`, repository: `${owner}/${repo}`, commit, cluster, digest },
      result: [...outcomes].sort().join(' '),
      revisions: [{ repository: url, commit }],
    },
  )
}
