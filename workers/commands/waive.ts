import { hash } from 'node:crypto'
import { BailiwickError } from '../../src/base/errors.ts'
import { FLEET_FILE } from '../../src/fleet/model/fleet-config.ts'
import { listOurCheckRuns, publishCheckRun } from '../../src/github/checks.ts'
import { isOurs } from '../../src/github/client/octokit.ts'
import { isLeftBranch, type OpenedPullRequest } from '../../src/github/own-pulls.ts'
import type { PullRequest } from '../../src/github/pull-request.ts'
import { viewFor } from '../../src/report/text/audience.ts'
import type { Finding } from '../../src/rules/model/finding.ts'
import { rules } from '../../src/rules/registry.ts'
import { findFindings } from '../../src/surface/command/answer-text.ts'
import { commandError } from '../../src/surface/command/command-line.ts'
import { withWaivers } from '../../src/surface/command/fleet-file.ts'
import { WAIVER_RUN } from '../../src/surface/command/record.ts'
import {
  parseWaive,
  readWaiverRecord,
  WAIVE_USAGE,
  type WaiverPull,
  waiverEntries,
  waiverRecord,
  waiverText,
} from '../../src/surface/command/waiver.ts'
import { addressesOf } from '../../src/verdict/verdict-views.ts'
import { answersOf, type FleetAnswer } from '../fleets/evaluate-change.ts'
import { openWriter } from '../fleets/github-installation.ts'
import { narrowerSources, readFleetFileText } from '../fleets/source-reader.ts'
import type { Case, FleetPlace, Installation, Writer } from '../fleets/worker-context.ts'
import { outcomeOf } from '../gate/commit-outcome.ts'
import { openRecordedPull, publishApproval } from '../gate/record-decision.ts'
import {
  type BailiwickCommand,
  type CommandContext,
  decidesHere,
  evaluateAgain,
  fleetsHere,
  mayWrite,
  presentPull,
  wasSeen,
} from './command-context.ts'

/** Requests a waiver of a violation, by a pull request in the fleet repository. */
export const waive: BailiwickCommand = {
  name: 'waive',
  decision: 'waiver',
  usage: WAIVE_USAGE,
  summary: 'ask the fleet admins to accept a violation (default: for 30 days)',
  where: 'pull-request',
  slow: true,
  may: mayWrite,
  refusal: 'This cannot be waived',
  run: async command => {
    const { line, today, comment } = command
    const { target, reason, until } = parseWaive(line.words, today)
    const pull = await presentPull(command)
    const wish = { by: comment.author.login, target, reason, until }
    await requestWaivers(command, pull, wish)
    return { reaction: 'rocket' }
  },
}

interface WaiverWish {
  /** Login of the requester. */
  readonly by: string
  /** A rule, or the beginning of a finding's fingerprint; absent: every violation that is new. */
  readonly target?: string
  readonly reason: string
  /** `YYYY-MM-DD`, the last day. */
  readonly until: string
}

const MOST = 20

/**
 * Opens a waiver pull request in each fleet with matching violations of a pull request, for a fleet admin to approve.
 * Only violations that the pull request's repository may see can be waived. Throws `command-input` if there are none.
 */
export async function requestWaivers(
  subject: Case,
  pull: PullRequest,
  wish: WaiverWish,
): Promise<readonly (OpenedPullRequest & { readonly fleet: string })[]> {
  const answers = await answersOf(subject, pull)
  const wanted = new Set(wantedFindings(answers, subject.repository.url, wish).map(({ fingerprint }) => fingerprint))
  if (wanted.size > MOST) {
    throw commandError(
      `this matches ${wanted.size} violations, and at most ${MOST} can be waived at once`,
      'Waive them one by one.',
    )
  }
  const of = `${subject.owner}/${subject.repo}#${pull.number}`
  const terms = { reason: wish.reason, requester: wish.by, expires: wish.until }
  const opened: (OpenedPullRequest & { readonly fleet: string })[] = []
  for (const answer of answers) {
    const { place: fleet, evaluation } = answer
    const findings = evaluation.verdict.violations.filter(one => wanted.has(one.fingerprint) && isOpen(one))
    if (findings.length === 0) continue
    await refuseWiderFleet(subject, answer, findings)
    const entries = waiverEntries(findings, terms)
    const waiver = { entries, of, author: pull.author?.login ?? 'ghost' }
    const { context, installation } = subject
    const desk = { installation, fleet, writer: await openWriter(context, installation.id, fleet.repository) }
    try {
      const one = await openOn(desk, waiver, waiverBranch(of, wish.target ?? 'all'))
      opened.push({ ...one, fleet: fleet.repository.url })
    } catch (error) {
      throw fleet.repository.url === subject.repository.url ? error : withoutWords(error)
    }
  }
  return opened
}

/** The waiver names objects, which must not become visible to more people than their repository is. */
async function refuseWiderFleet(
  { installation, repository }: Case,
  { place, evaluation, snapshot }: FleetAnswer,
  findings: readonly Finding[],
): Promise<void> {
  const fleet = place.repository.url
  const nodes = new Map(evaluation.nodes.map(node => [node.key, addressesOf(node)]))
  const read = new Set([repository.url, ...snapshot.sources.map(source => source.url)])
  const urls = findings.flatMap(one => [one.origin.repository, ...(nodes.get(one.node) ?? [])])
  if (
    (
      await narrowerSources(
        installation,
        fleet,
        urls.filter(url => read.has(url)),
      )
    ).length === 0
  )
    return
  throw commandError(
    "more people can see the fleet's repository than the source of the violation",
    'Ask a fleet admin to write the waiver, or correct the violation.',
  )
}

/** Errors in the fleet's own file are for its readers: it may name other tenants. */
function withoutWords(cause: unknown): unknown {
  if (!(cause instanceof BailiwickError) || cause.code !== 'command-input') return cause
  return new BailiwickError('command-input', "the fleet's own file has an error, so a waiver cannot be added", {
    fix: 'Ask a fleet admin to fix it: `bailiwick check` there says what is wrong.',
    cause,
  })
}

/** Opens it on its branch, or on the next one if a merged or closed pull request left that behind. */
async function openOn(desk: WaiverDesk, waiver: WaiverPull, branch: string): Promise<OpenedPullRequest> {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? branch : `${branch}-${number}`
    try {
      return await openWaiverPull(desk, waiver, candidate)
    } catch (error) {
      const isRefused = error instanceof BailiwickError && error.code === 'onboard-input'
      if (!isRefused || number === MOST || !(await isLeftBranch(desk.writer, candidate))) throw error
    }
  }
}

function wantedFindings(answers: readonly FleetAnswer[], url: string, { target }: WaiverWish): readonly Finding[] {
  const { outcome, audience, nodes } = outcomeOf(answers, url, 'pull-request')
  if (outcome === undefined || outcome instanceof BailiwickError) throw nothing()
  const { verdict } = viewFor(outcome, audience, url, nodes)
  const shown = verdict.violations.filter(one => one.state !== 'fixed')
  const isRule = (id: string) => rules.some(rule => rule.id === id)
  const meant = target === undefined ? shown.filter(one => one.state === 'new') : findFindings(target, shown, isRule)
  const open = meant.filter(isOpen)
  if (open.length > 0) return open
  throw meant.length > 0 ? commandError('this is already waived', '`/bailiwick status` shows the end date.') : nothing()
}

const isOpen = ({ state }: Finding) => state === 'new' || state === 'standing'

function nothing() {
  return commandError('this pull request has no such violation', '`/bailiwick status` lists its violations.')
}

/** Approves a waiver that another person requested, by writing the approver into it. It does not merge. */
export const approveWaiver: BailiwickCommand = {
  name: 'approve-waiver',
  decision: 'waiver',
  usage: 'approve-waiver',
  summary: "on a waiver's pull request: approve a waiver that someone else requested (fleet admins)",
  where: 'pull-request',
  slow: true,
  may: decidesHere,
  refusal: 'This waiver cannot be approved',
  run: async command => {
    const { writer, installation, comment } = command
    const { login } = comment.author
    const pull = await presentPull(command)
    const fleet = (await fleetsHere(command)).find(({ branch }) => branch === pull.base.ref)
    if (!fleet) throw noWaiver()
    const waiver = await recorded(command, pull)
    if (waiver.approver?.toLowerCase() !== login.toLowerCase()) refuseOwn(waiver, login)
    const approved = { ...waiver, approver: login }
    const { head } = await openWaiverPull({ writer, installation, fleet }, approved, pull.head.ref)
    const { number, base } = pull
    await publishApproval(writer, head, { by: login, at: comment.createdAt, pull: number, base: base.ref })
    await evaluateAgain(command)
    return { reaction: 'rocket' }
  },
}

/** Our App's record on the present head: a branch that was changed since has none. */
async function recorded(command: CommandContext, pull: PullRequest): Promise<WaiverPull> {
  const { app, comment } = command
  const ours = pull.author !== undefined && isOurs(app, { user: pull.author })
  if (!ours || pull.head.fork || !pull.head.ref.startsWith(WAIVER_BRANCH)) throw noWaiver()
  const runs = await listOurCheckRuns(command, pull.head.sha)
  const run = runs.find(({ name }) => name === WAIVER_RUN)
  const waiver = run && readWaiverRecord(run.text)
  if (!run || !waiver) {
    throw commandError('its branch no longer matches the request', 'Close it, and request the waiver again.')
  }
  if (await wasSeen(command, pull)) return waiver
  if (waiver.approver?.toLowerCase() === comment.author.login.toLowerCase()) return waiver
  throw commandError(
    'the pull request changed after this comment was written',
    'Review it again, then repeat the command.',
  )
}

function refuseOwn({ entries, author, approver }: WaiverPull, login: string): void {
  const same = (other: string) => other.toLowerCase() === login.toLowerCase()
  if (entries.some(({ requester }) => same(requester))) {
    throw commandError('a fleet admin cannot approve their own request', 'Ask another fleet admin.')
  }
  if (same(author))
    throw commandError('a fleet admin cannot approve a waiver for their own change', 'Ask another fleet admin.')
  if (approver !== undefined) throw commandError(`${approver} has already approved it`, 'Merge it.')
}

function noWaiver() {
  return commandError(
    'this pull request does not come from a waive command',
    'Run it on the pull request that adds the waiver.',
  )
}

/** The prefix of waiver branches. */
const WAIVER_BRANCH = 'bailiwick/waive-'

/** The branch of a waiver request for one target of one pull request; a repeated request updates it. */
function waiverBranch(of: string, target: string): string {
  const readable = `${of}-${target}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 80)
  return `${WAIVER_BRANCH}${readable.replace(/^-|-$/g, '')}-${hash('sha256', JSON.stringify([of, target])).slice(0, 8)}`
}

/** The fleet of a waiver, and the client that writes to it. */
interface WaiverDesk {
  readonly writer: Writer
  readonly installation: Installation
  readonly fleet: FleetPlace
}

/**
 * Opens or updates the pull request that adds waivers to the fleet's file, and records the requester and approver on
 * its commit. Throws `command-input` if the file cannot be edited.
 */
async function openWaiverPull(desk: WaiverDesk, pull: WaiverPull, branch: string): Promise<OpenedPullRequest> {
  const { writer, installation, fleet } = desk
  const { approver } = pull
  const entries = approver === undefined ? pull.entries : pull.entries.map(entry => ({ ...entry, approver }))
  const text = waiverText(pull)
  const { text: before } = await readFleetFileText(installation, fleet)
  const files = [{ path: FLEET_FILE, content: withWaivers(before, entries) }]
  const opened = await openRecordedPull(writer, { base: fleet.branch, branch, files, ...text })
  const record = waiverRecord(pull)
  await publishCheckRun(writer, {
    ...record,
    headSha: opened.head,
    name: WAIVER_RUN,
    externalId: hash('sha256', record.text),
    conclusion: approver === undefined ? 'action_required' : 'success',
    annotations: [],
    // GitHub requires an address for `action_required`
    detailsUrl: opened.url,
  })
  return opened
}
