import { commandError } from '../../src/command/command-error.ts'
import { findFindings } from '../../src/command/find-findings.ts'
import { waiverEntries } from '../../src/command/waiver/waiver-entry.ts'
import type { WaiverPull } from '../../src/command/waiver/waiver-text.ts'
import { BailiwickError } from '../../src/errors.ts'
import { addressesOf } from '../../src/evaluate/verdict/reads-from.ts'
import { isLeftBranch } from '../../src/github/pulls/left-branch.ts'
import type { OpenedPullRequest } from '../../src/github/pulls/open-pull-request.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import { viewFor } from '../../src/report/text/audience.ts'
import type { Finding } from '../../src/rules/model/finding.ts'
import { rules } from '../../src/rules/registry.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { answersOf } from '../evaluate/answers-of.ts'
import { outcomeOf } from '../evaluate/outcome-of.ts'
import type { FleetAnswer } from '../fleets/evaluate-change.ts'
import { narrowerSources } from '../fleets/narrower-sources.ts'
import { openWriteClient } from '../publish/open-write-client.ts'
import { openWaiverPull, type WaiverDesk, waiverBranch } from './open-waiver-pull.ts'

/** What someone asks to have accepted. */
interface WaiverWish {
  /** Login of who asks. */
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
  context: WorkerContext,
  subject: OpenedRepository,
  pull: PullRequest,
  wish: WaiverWish,
): Promise<readonly (OpenedPullRequest & { readonly fleet: string })[]> {
  const answers = await answersOf(context, subject, pull)
  const wanted = new Set(wantedFindings(answers, subject.repository.url, wish).map(({ fingerprint }) => fingerprint))
  if (wanted.size > MOST) {
    throw commandError(
      `this matches ${wanted.size} violations, and at most ${MOST} can be waived at once`,
      'Waive them one by one.',
    )
  }
  const of = `${subject.repository.owner}/${subject.repository.name}#${pull.number}`
  const terms = { reason: wish.reason, requester: wish.by, expires: wish.until }
  const opened: (OpenedPullRequest & { readonly fleet: string })[] = []
  for (const answer of answers) {
    const { place: fleet, evaluation } = answer
    const findings = evaluation.verdict.violations.filter(one => wanted.has(one.fingerprint) && isOpen(one))
    if (findings.length === 0) continue
    await refuseWiderFleet(subject, answer, findings)
    const entries = waiverEntries(findings, terms)
    const waiver = { entries, of, author: pull.author?.login ?? 'ghost' }
    const { installation } = subject
    // the fleet's repository alone may be written to with this
    const place = await openWriteClient(context, installation.id, fleet.repository.id)
    const desk = { context, place, installation, fleet }
    try {
      const one = await openOn(desk, waiver, waiverBranch(of, wish.target ?? 'all'))
      opened.push({ ...one, fleet: fleet.repository.url })
    } catch (error) {
      throw fleet.repository.url === subject.repository.url ? error : withoutWords(error)
    }
  }
  return opened
}

/** The waiver names objects: what they are called is not told to more people than can see where they are. */
async function refuseWiderFleet(
  { installation, repository }: OpenedRepository,
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

/** What is wrong with the fleet's own file is for its readers: it may name other tenants. */
function withoutWords(cause: unknown): unknown {
  if (!(cause instanceof BailiwickError) || cause.code !== 'command-input') return cause
  return new BailiwickError('command-input', "the fleet's own file has an error, so a waiver cannot be added", {
    fix: 'Ask a fleet admin to fix it: `bailiwick check` there says what is wrong.',
    cause,
  })
}

/** On its branch, or on the next one where an earlier pull request was merged or closed and left it behind. */
async function openOn(desk: WaiverDesk, waiver: WaiverPull, branch: string): Promise<OpenedPullRequest> {
  const { place, fleet } = desk
  const name = { owner: fleet.repository.owner, repo: fleet.repository.name }
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? branch : `${branch}-${number}`
    try {
      return await openWaiverPull(desk, waiver, candidate)
    } catch (error) {
      const isRefused = error instanceof BailiwickError && error.code === 'onboard-input'
      if (!isRefused || number === MOST || !(await isLeftBranch(place.octokit, name, candidate))) throw error
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
