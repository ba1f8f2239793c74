import { hash } from 'node:crypto'
import { BailiwickError } from '../../src/base/errors.ts'
import { ENGINE_VERSION } from '../../src/fleet/model/input.ts'
import { commitFiles } from '../../src/github/branches.ts'
import { publishCheckRun } from '../../src/github/checks.ts'
import { readFile } from '../../src/github/contents/repositories.ts'
import { addDeployKey, removeDeployKey } from '../../src/github/deploy-keys.ts'
import { type NewPullRequest, type OpenedPullRequest, openPullRequest } from '../../src/github/own-pulls.ts'
import type { PullRequest } from '../../src/github/pull-request.ts'
import { isLoopbackUrl } from '../../src/process/environment.ts'
import { APPROVAL_RUN, approvalRecord } from '../../src/surface/command/record.ts'
import { decide, NO_DECISIONS } from '../../src/verdict/decide.ts'
import { filePatch } from '../../src/verdict/fixes.ts'
import type { DecisionKind, TrailAnchor, TrailDecision, TrailRevision } from '../../src/verdict/trail-entry.ts'
import { githubInstallation } from '../fleets/github-installation.ts'
import { nameInAddress } from '../fleets/source-reader.ts'
import type { Case, WorkerContext, Writer } from '../fleets/worker-context.ts'
import type { CommitOutcome } from './commit-outcome.ts'

/**
 * Decisions of one span of time are one commit: of ten seconds, or of a minute where the last commit is not older. Spans have
 * fixed ends, so that a stream of decisions does not put the commit off. A GitHub on this machine needs no such pause.
 */
const SPAN_MS = 10_000
const BUSY_SPAN_MS = 60_000
const LOOPBACK_SPAN_MS = 50

/** The fleet that a decision is about; `url` is normalized. */
interface FleetAddress {
  readonly installation: number
  readonly url: string
}

/** What the caller knows of a decision. */
type NewDecision = Omit<TrailDecision, 'at' | 'engine'>

/**
 * Records a decision in the trail of its fleet. A separate job writes it, and nothing waits for that job. If the outbox does not
 * respond, the caller's job fails and is retried, so that no decision is lost. Returns the current end of the trail, which the
 * caller publishes. `once`: skips a decision whose id was recorded recently.
 */
export async function recordDecision(
  { outbox, queue, config }: Pick<WorkerContext, 'outbox' | 'queue' | 'config'>,
  { installation, url }: FleetAddress,
  decision: NewDecision,
  { once = false }: { readonly once?: boolean } = {},
): Promise<TrailAnchor | undefined> {
  if (outbox === undefined) return undefined
  const fleet = nameInAddress(url)
  if (fleet === undefined) return undefined
  const place = { installation, owner: fleet.owner, repo: fleet.repo }
  const isNew = await outbox.add(place, { ...decision, at: new Date().toISOString(), engine: ENGINE_VERSION }, once)
  const head = await outbox.head(place)
  if (!isNew) return head
  const now = Date.now()
  const isBusy = head?.at !== undefined && now - head.at < BUSY_SPAN_MS
  const spanMs = isLoopbackUrl(config.githubApiUrl) ? LOOPBACK_SPAN_MS : isBusy ? BUSY_SPAN_MS : SPAN_MS
  await queue.add('write-trail', place, { delayMs: spanMs - (now % spanMs) })
  return head
}

/** What a pull request would have changed, where the App may not open one. */
export class UnopenedPull extends BailiwickError {
  /** For `git apply`. */
  readonly patch: readonly string[]

  constructor({ code, message: text, fix, typed, typedFix }: BailiwickError, patch: readonly string[]) {
    super(code, typed ?? text, { fix: typedFix ?? fix })
    this.patch = patch
  }
}

async function unopened(writer: Writer, { base, files }: NewPullRequest, error: unknown): Promise<unknown> {
  if (!(error instanceof BailiwickError) || error.code !== 'not-permitted') return error
  const patches = files.map(async ({ path, content }) => {
    const present = await readFile(writer, path, base)
    return filePatch(path, present && Buffer.from(present).toString('utf8'), content ?? undefined)
  })
  return new UnopenedPull(error, (await Promise.all(patches)).flat())
}

/**
 * Opens or updates a pull request and records it in the trail. A retry does not add a second entry. Throws `UnopenedPull` where
 * the App lacks a permission.
 */
export async function openRecordedPull(writer: Writer, wanted: NewPullRequest): Promise<OpenedPullRequest> {
  const opened = await openPullRequest(writer, wanted).catch(async error => {
    throw await unopened(writer, wanted, error)
  })
  const { number: pull, head: commit } = opened
  await record(writer, { kind: 'pull-request', result: 'opened', pull, commit, what: `#${pull} ${commit}` })
  return opened
}

/**
 * Commits files to a branch of a pull request, as `commitFiles` does. Records the commit before the branch moves, so that a
 * crash cannot hide it; if the branch moved meanwhile, the recorded commit is on no branch.
 */
export function commitRecorded(
  writer: Writer,
  pull: number,
  wanted: Omit<Parameters<typeof commitFiles>[1], 'beforeMove'>,
): Promise<string | undefined> {
  const beforeMove = (commit: string) =>
    record(writer, { kind: 'commit', result: 'committed', pull, commit, what: commit })
  return commitFiles(writer, { ...wanted, beforeMove })
}

/** Adds a read-only deploy key and records it in the trail. False: GitHub refuses the key. */
export async function addRecordedKey(writer: Writer, wanted: Parameters<typeof addDeployKey>[1]): Promise<boolean> {
  const added = await addDeployKey(writer, wanted)
  if (added === undefined) return false
  await record(writer, { kind: 'key-added', result: 'added', what: `${added} ${wanted.key}` })
  return true
}

/** Deletes a deploy key. Records it before the deletion, so that a crash cannot hide it. */
export function removeRecordedKey(writer: Writer, key: string): Promise<void> {
  return removeDeployKey(writer, key, id =>
    record(writer, { kind: 'key-deleted', result: 'deleted', what: `${id} ${key}` }),
  )
}

/** `what`: identifies the action within a repository. A deploy key stays on GitHub; the trail has only a hash. */
async function record(
  { context, app, owner, repo, installation, fleet }: Writer,
  { what, ...act }: Pick<NewDecision, 'kind' | 'result' | 'pull' | 'commit'> & { readonly what: string },
): Promise<void> {
  if (fleet === undefined) return
  const repository = `${owner}/${repo}`
  const digest = hash('sha256', `${act.kind} ${repository} ${what}`)
  const decision = { ...act, id: `${act.kind} ${digest}`, who: `${app.slug}[bot]`, repository, revisions: [], digest }
  await recordDecision(context, { installation, url: fleet }, decision, { once: true })
}

/**
 * Records that a fleet admin gives the required approvals of one head by a command: as a check run of our App on that
 * commit, which ends with the next push and only our App can write. Whether they are one is checked when it is counted.
 */
export async function publishApproval(
  writer: Writer,
  head: string,
  approval: Parameters<typeof approvalRecord>[0],
): Promise<void> {
  const record = approvalRecord(approval, head)
  const run = { ...record, headSha: head, name: APPROVAL_RUN, annotations: [] }
  const externalId = `approve:${hash('sha256', record.text)}`
  await publishCheckRun(writer, { ...run, externalId, conclusion: 'success' })
}

type PublishedVerdict = Pick<CommitOutcome, 'outcome' | 'context'>

/**
 * Records a published verdict in the trail of its fleet, after the approvals that it counts. A verdict that belongs to no fleet
 * is not recorded. An error before the fleet was known belongs to the fleet of that repository, or to the only fleet of
 * the installation. `pull`: the pull request that it is about, if any.
 */
export async function recordVerdict(
  { context, installation, owner, repo, app }: Writer,
  pull: number | undefined,
  check: string,
  published: PublishedVerdict,
): Promise<TrailAnchor | undefined> {
  const { outcome, context: report } = published
  if (context.outbox === undefined) return undefined
  const url = report.fleet?.repository ?? (await fleetOfError(context, installation, published))
  if (url === undefined) return undefined
  const fleet = { installation, url }
  const commit = report.headSha
  const decisions = report.decisions ?? NO_DECISIONS
  const about = { repository: `${owner}/${repo}`, commit, ...(pull === undefined ? {} : { pull }) }
  for (const { rule, by } of decisions.approvals ?? []) {
    const id = `approval ${owner}/${repo}@${commit} ${rule} ${by}`
    const approval = { ...about, kind: 'approval', who: by, result: rule, revisions: [] } as const
    await recordDecision(context, fleet, { ...approval, id, digest: hash('sha256', id) })
  }
  const digest = hash('sha256', JSON.stringify([outcomeOf(outcome), report.decisions ?? null]))
  return recordDecision(context, fleet, {
    ...about,
    id: `verdict ${owner}/${repo}@${commit} ${check} ${digest}`,
    ...{ kind: 'verdict', who: `${app.slug}[bot]`, digest },
    result: decide(outcome, decisions).conclusion,
    revisions: revisionsOf(report),
  })
}

const outcomeOf = (outcome: CommitOutcome['outcome']) =>
  outcome instanceof BailiwickError ? { error: outcome.code, message: outcome.message } : (outcome ?? null)

/** Everything that was read for it, each repository at its commit, in a fixed order. */
function revisionsOf({ fleet, nodes = [] }: CommitOutcome['context']): TrailRevision[] {
  const read = [
    ...(fleet ? [{ url: fleet.repository, commit: fleet.commit }] : []),
    ...nodes.flatMap(({ source, charts = [] }) => [source, ...(source.includes ?? []), ...charts]),
  ]
  const all = new Map(
    read
      .filter(({ commit }) => /^([0-9a-f]{40}|sha256:[0-9a-f]{64})$/.test(commit))
      .map(({ url, commit }) => [`${url} ${commit}`, { repository: url, commit }]),
  )
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, revision]) => revision)
}

async function fleetOfError(
  context: WorkerContext,
  id: number,
  { outcome, context: { repository } }: PublishedVerdict,
): Promise<string | undefined> {
  if (!(outcome instanceof BailiwickError)) return undefined
  try {
    const installation = githubInstallation(context, id, await context.app.reader(id))
    const urls = (await installation.designation()).fleets.map(fleet => fleet.repository.url)
    const own = urls.includes(repository) ? repository : undefined
    const url = own ?? (new Set(urls).size === 1 ? urls[0] : undefined)
    if (url !== undefined || urls.length === 0) return url
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
  }
  context.log.warn(
    { repository, code: outcome.code },
    'an error is in no trail: it is not known which fleet it concerns',
  )
  return undefined
}

/** A pressed button of a check run: its decision kind and the person. */
interface Press {
  readonly kind: DecisionKind
  readonly check: number
  readonly login: string
  /** Addresses of the fleets that it affects. */
  readonly fleets: readonly string[]
}

/** Records a pressed button in the trail of each fleet that it affects. */
export async function recordButton(
  { context, installation, owner, repo }: Case,
  { number: pull, head: { sha: commit } }: PullRequest,
  { kind, check, login: who, fleets }: Press,
): Promise<void> {
  const id = `button ${kind} ${check} ${commit} ${who}`
  const about = { repository: `${owner}/${repo}`, commit, pull }
  for (const url of fleets) {
    const decision = { ...about, id, kind, who, result: 'done', revisions: [], digest: hash('sha256', id) }
    await recordDecision(context, { installation: installation.id, url }, decision, { once: true })
  }
}
