import { BailiwickError } from '../../src/base/errors.ts'
import type { TreeSnapshot } from '../../src/git/tree.ts'
import { listOurCheckRuns, type OurCheckRun } from '../../src/github/checks.ts'
import type { OurRepository } from '../../src/github/client/octokit.ts'
import { type ListedPullRequest, type PullRequest, pullCommits } from '../../src/github/pull-request.ts'
import { readTestMerge, type TestMerge } from '../../src/github/test-merge.ts'
import type { Outcome, ReportContext } from '../../src/report/outcome.ts'
import { PRUNE_RUN, readPruneRecord } from '../../src/surface/command/record.ts'
import { type ChangePrunes, changePrunes, combinedPrunes } from '../../src/verdict/change-prunes.ts'
import { NO_DECISIONS } from '../../src/verdict/decide.ts'
import { assertDesignated } from '../fleets/designation.ts'
import { evaluateChange, type FleetAnswer, peopleOfPull } from '../fleets/evaluate-change.ts'
import type { Case, WorkerContext } from '../fleets/worker-context.ts'
import { finalError } from '../job-error.ts'
import { type CommitOutcome, decisionOf, outcomeOf, readFixes } from './commit-outcome.ts'
import { readDecisions } from './human-decisions.ts'

/**
 * Evaluates an open pull request as it would be merged now. `merging`: its test merge, if it is being read already.
 * Throws errors that a retry may resolve.
 */
export async function evaluatePullRequest(
  subject: Case,
  pull: PullRequest,
  merging?: Promise<TestMerge>,
): Promise<CommitOutcome> {
  const { context, repository, attempt } = subject
  const where = {
    kind: 'pull-request',
    repository: repository.url,
    headSha: pull.head.sha,
    base: pull.base.ref,
  } as const
  try {
    const merge = await (merging ?? readTestMerge(subject, pull, context.store))
    return await withPruneApproval(subject, pull, await evaluateMerge(subject, pull, merge, where))
  } catch (error) {
    const outcome = finalError(error, attempt)
    context.log.error({ err: error, pull: `${repository.url}#${pull.number}` }, 'pull request could not be evaluated')
    return { outcome, context: where }
  }
}

/** Adds who approved the prunes of the change: exactly these, or more. */
async function withPruneApproval(subject: Case, pull: PullRequest, evaluated: CommitOutcome): Promise<CommitOutcome> {
  const { prunes } = evaluated.context
  if (!prunes) return evaluated
  const record = await pullPruneRecord(subject, { number: pull.number, head: pull.head.sha })
  const approved = new Set(record?.prints)
  if (!record || !prunes.prints.every(one => approved.has(one))) return evaluated
  return { ...evaluated, context: { ...evaluated.context, prunes: { ...prunes, approvedBy: record.by } } }
}

/** Evaluates a pull request as this merge. Throws errors that a retry may resolve. */
export async function evaluateMerge(
  subject: Case,
  pull: ListedPullRequest,
  merge: TestMerge,
  where: ReportContext,
): Promise<CommitOutcome> {
  const { context, installation, repository } = subject
  const pin = { url: repository.url, branch: pull.base.ref }
  const base = { ...pin, commit: merge.base, tree: merge.baseTree }
  const head = { ...pin, commit: merge.sha, tree: merge.tree }
  const people = peopleOfPull(subject, pull)
  installation.noteHead(repository, pin.branch, merge.base)
  await assertDesignated(installation)
  const answers = await evaluateChange(subject, { head, base, people, isGated: true })
  const { outcome, required, ...statement } = outcomeOf(answers, repository.url, 'pull-request')
  if (answers.length === 0) return { outcome, context: where }
  const [before, after] = await Promise.all([
    installation.content(repository, base.commit, base.tree),
    installation.content(repository, head.commit, head.tree),
  ])
  const prunes = prunesOf(context, answers, repository.url)
  const deletes = prunes ? { prunes } : {}
  const reportContext = { ...where, ...statement, ...deletes, changedPaths: changedPaths(before, after) }
  return { outcome, context: reportContext, tree: after, required, fleets: answers.map(({ place }) => place) }
}

/** A pull request and its evaluation. */
export interface EvaluatedPull {
  readonly pull: PullRequest
  readonly evaluated: CommitOutcome
}

/**
 * Evaluates an open pull request and reads what people decided about it. `runs`: reads our check runs of its head, once
 * the verdict is known. Throws errors that a retry may resolve.
 */
export async function evaluateWithDecisions(
  subject: Case,
  pull: PullRequest,
  runs: () => Promise<readonly OurCheckRun[]>,
  merging?: Promise<TestMerge>,
): Promise<EvaluatedPull> {
  const evaluated = await evaluatePullRequest(subject, pull, merging)
  const decisions = await readDecisions(subject, pull, evaluated, await runs())
  const fixes = readFixes(evaluated)
  // the App cannot write to a fork
  const fixable = !pull.head.fork && fixes.length > 0
  return { pull, evaluated: { ...evaluated, fixes, context: { ...evaluated.context, fixable, decisions } } }
}

/**
 * Returns the most severe outcome of the open pull requests that share head and base. GitHub keeps check runs per
 * commit, so a passing one would let all of them merge; the result is the same for whichever of them is evaluated. Pull
 * requests that GitHub cannot merge do not block the others. Needs at least one.
 */
export function worstOfHead(pulls: readonly [EvaluatedPull, ...EvaluatedPull[]]): CommitOutcome {
  const mergeable = pulls.filter(({ evaluated }) => !isUnmergeable(evaluated.outcome))
  const all = mergeable.length > 0 ? mergeable : pulls
  const [worst] = [...all].sort((a, b) => weight(b.evaluated) - weight(a.evaluated) || a.pull.number - b.pull.number)
  const { pull, evaluated } = worst!
  return pulls.length > 1 && weight(evaluated) > 0 ? inPlaceOfOthers(evaluated, pull.number) : evaluated
}

/** The outcome for a pull request itself: its own verdict, and which other pull request blocks its head. */
export function withWorse(own: EvaluatedPull, shown: CommitOutcome): CommitOutcome {
  const worse = shown.context.decisions?.worse.filter(number => number !== own.pull.number) ?? []
  if (worse.length === 0) return own.evaluated
  const decisions = { ...NO_DECISIONS, ...own.evaluated.context.decisions, worse }
  return { ...own.evaluated, context: { ...own.evaluated.context, decisions } }
}

function inPlaceOfOthers(evaluated: CommitOutcome, number: number): CommitOutcome {
  const decisions = { ...NO_DECISIONS, ...evaluated.context.decisions, worse: [number] }
  return { ...evaluated, context: { ...evaluated.context, decisions } }
}

const weight = (evaluated: CommitOutcome) => decisionOf(evaluated).severity

const isUnmergeable = (outcome: Outcome) => outcome instanceof BailiwickError && outcome.code === 'merge-conflict'

/**
 * What the workers of the bound clusters would hold back after a change, for the readers of the repository at `url`:
 * Kustomizations of sources that fewer people can see, and of other tenants, are only counted.
 */
function prunesOf(
  { bindings, config }: Pick<WorkerContext, 'bindings' | 'config'>,
  answers: readonly FleetAnswer[],
  url: string,
): ChangePrunes | undefined {
  const limits = { share: config.pruneShare, atLeast: config.pruneAtLeast }
  const isFleet = answers.some(({ place }) => place.repository.url === url)
  const found = answers.flatMap(({ place, prunes = [], evaluation, narrower }) => {
    const bound = new Set(
      bindings.flatMap(({ name, fleet, branch, mode }) =>
        mode === 'reconcile' && fleet === place.repository.url && branch === place.branch ? [name] : [],
      ),
    )
    const planned = prunes.filter(({ cluster }) => bound.has(cluster))
    const isShown = (source: string) => (isFleet ? !narrower.includes(source) : source === url)
    const present = evaluation.nodes.map(({ key }) => key)
    return changePrunes(planned, present, limits, isShown) ?? []
  })
  return combinedPrunes(found)
}

type PruneRecord = NonNullable<ReturnType<typeof readPruneRecord>>

/** How many commits of a pull request are searched for an approval, which survives pushes that do not change it. */
const MAX_COMMITS = 10

/** The last approval on a pull request: on its head, or on an earlier commit that it still has. */
export async function pullPruneRecord(
  repository: OurRepository,
  { number, head }: { readonly number: number; readonly head: string },
): Promise<PruneRecord | undefined> {
  const own = await pruneRecordOn(repository, head)
  if (own?.pull === number) return own
  const commits = await pullCommits(repository, number)
  for (const sha of commits.reverse().slice(0, MAX_COMMITS)) {
    const record = sha === head ? undefined : await pruneRecordOn(repository, sha)
    if (record?.pull === number) return record
  }
  return undefined
}

/** The record of a prune approval on a commit. */
export async function pruneRecordOn(repository: OurRepository, sha: string) {
  const runs = await listOurCheckRuns(repository, sha)
  return readPruneRecord(runs.find(({ name }) => name === PRUNE_RUN)?.text ?? '')
}

/** Paths of files that differ between two trees of one repository: added, changed or removed. */
export function changedPaths(base: TreeSnapshot, head: TreeSnapshot): ReadonlySet<string> {
  const before = new Map(base.entries.map(entry => [entry.path, `${entry.mode} ${entry.id}`]))
  const changed = new Set<string>()
  for (const entry of head.entries) {
    if (before.get(entry.path) !== `${entry.mode} ${entry.id}`) changed.add(entry.path)
    before.delete(entry.path)
  }
  for (const path of before.keys()) changed.add(path)
  return changed
}
