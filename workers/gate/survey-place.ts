import { hash } from 'node:crypto'
import { BailiwickError } from '../../src/base/errors.ts'
import type { GatedBranch } from '../../src/fleet/model/fleet-config.ts'
import type { AppIdentity, Octokit } from '../../src/github/client/octokit.ts'
import { listBranchCommits } from '../../src/github/contents/commits.ts'
import type { Repository } from '../../src/github/contents/repositories.ts'
import { listNamesakes } from '../../src/github/contents/repositories.ts'
import { type DesignationRecord, designationMarker } from '../../src/github/designate.ts'
import { upsertIssue } from '../../src/github/issues.ts'
import { readOffer } from '../../src/github/own-pulls.ts'
import { listEvaluatedRulesets, type Ruleset, readLayers, readRuleset } from '../../src/github/protection.ts'
import { firstReport, REPORT_MARKER, REPORT_TITLE } from '../../src/report/first-report.ts'
import {
  type BaselineState,
  type BranchGate,
  baselineOfferText,
  type FirstReportFacts,
  type TrailFacts,
} from '../../src/report/first-report-sections.ts'
import { BASELINE_FILE } from '../../src/rules/model/baseline.ts'
import { foreignCommits } from '../../src/verdict/append-decisions.ts'
import type { FleetSurvey } from '../../src/verdict/audit/survey-fleet.ts'
import { namesBranch } from '../../src/verdict/branch-ruleset.ts'
import { isTenancyCheck, ownCheckName } from '../../src/verdict/check-names.ts'
import { evaluateProtection, type OurCheck, trailGaps } from '../../src/verdict/evaluate-protection.ts'
import { NOTHING_EVALUATED } from '../../src/verdict/evaluated.ts'
import { TRAIL_BRANCH } from '../../src/verdict/trail-entry.ts'
import type { EvaluatedRevisionSet } from '../fleets/evaluate-revision-set.ts'
import { findRepository, narrowerSources, withoutSources } from '../fleets/source-reader.ts'
import type { DesignatedFleets, FleetPlace, Installation, WorkerContext, Writer } from '../fleets/worker-context.ts'
import { openRecordedPull, UnopenedPull } from './record-decision.ts'

/** The issue form by which teams ask for a tenant. */
const FORM = '.github/ISSUE_TEMPLATE/tenant-request.yml'

/** A fleet and its present revision set. */
export interface SurveyedPlace {
  readonly fleet: FleetPlace
  readonly evaluated: EvaluatedRevisionSet
}

/** Surveys one fleet. A fleet that cannot be built gives a survey with only its error. */
export async function surveyOf(
  { evaluator, disabledRules }: WorkerContext,
  installation: Installation,
  { fleet, evaluated }: SurveyedPlace,
): Promise<FleetSurvey> {
  const { repository, branch } = fleet
  const { sources, snapshot, fleetCommit: commit, evaluation } = evaluated
  const tree = await installation.content(repository, commit)
  // the report is an issue on the fleet's own repository
  const narrower = await narrowerSources(
    installation,
    repository.url,
    sources.map(source => source.url),
  )
  const answer = await evaluator.evaluate({
    type: 'survey',
    today: new Date().toISOString().slice(0, 10),
    head: withoutSources(
      {
        fleet: { url: repository.url, branch, commit, tree },
        sources: sources.flatMap(source => ('tree' in source ? [source] : [])),
        opaque: sources.flatMap(source => ('reason' in source ? [source] : [])),
        facts: snapshot.facts,
        disabledRules,
        registries: snapshot.registries,
      },
      new Set(narrower),
    ),
  })
  if (answer.type === 'surveyed') return answer.survey
  if (answer.type === 'wanted') throw new Error('a fleet asks for sources that its evaluation did not read')
  const { errors } = evaluation.verdict
  const own = { url: repository.url, branch }
  return {
    summary: evaluation.verdict.summary,
    ...{ clusters: [], tenants: [], seen: [], notSeen: [], audit: [], legacy: [], worst: [] },
    ...{ errors, errorCount: errors.length, evaluated: NOTHING_EVALUATED, gated: [own], enforcement: 'block' },
  }
}

/** What is known of an installation whose fleets are surveyed. */
interface SurveyDesk extends GateDesk {
  readonly designation: DesignatedFleets['designation']
  /** The record that the report keeps; undefined if the operator decides. */
  readonly record: Omit<DesignationRecord, 'at'> | undefined
}

/** Publishes the survey in the fleet's repository: the baseline pull request if needed, and the first report. */
export async function surveyPlace(writer: Writer, desk: SurveyDesk, surveyed: SurveyedPlace): Promise<void> {
  const { context } = writer
  const { installation, record } = desk
  const { repository, branch } = surveyed.fleet
  const survey = await surveyOf(context, installation, surveyed)
  const { entries } = await installation.content(repository, surveyed.evaluated.fleetCommit)
  const has = (path: string) => entries.some(entry => entry.path === path)
  const facts: FirstReportFacts = {
    url: repository.url,
    survey,
    gates: await readGates(desk, survey.gated),
    baseline: await offerBaseline(writer, surveyed.fleet, survey, {
      hasFile: has(BASELINE_FILE),
      isDesignated: desk.designation.state === 'designated',
    }),
    hasForm: has(FORM),
    trail: context.outbox ? await readTrailGaps(desk, repository) : 'off',
    ...openDesignation(desk, repository.id),
  }
  const isDefault = branch === repository.defaultBranch
  const marker = isDefault
    ? REPORT_MARKER
    : REPORT_MARKER.replace(' -->', ` ${hash('sha256', branch).slice(0, 12)} -->`)
  const seal = record ? `${designationMarker({ ...record, at: repository.id }, context.config.privateKey)}\n` : ''
  const written = await upsertIssue(writer, {
    marker,
    title: isDefault ? REPORT_TITLE : `${REPORT_TITLE}, branch ${branch}`,
    body: `${marker}\n${seal}\n${firstReport(facts)}`,
  })
  if (!written)
    context.log.warn(
      { fleet: repository.url },
      'first report is not shown: issues are disabled in the fleet repository',
    )
}

function openDesignation({ designation }: SurveyDesk, repository: number): Pick<FirstReportFacts, 'designation'> {
  if (designation.state === 'none') return {}
  const { pending } = designation
  if (pending) return { designation: { kind: 'pending', included: pending.some(one => one.repository === repository) } }
  return designation.state === 'undecided' && designation.reason === 'undesignated'
    ? { designation: { kind: 'none', isOnly: designation.candidates.length === 1 } }
    : {}
}

/** How the gates of an installation are read. */
interface GateDesk {
  readonly installation: Installation
  readonly app: AppIdentity
  /** Reads rulesets only: GitHub shows bypass actors only to clients that may change a ruleset. */
  readonly rulesets: Octokit
}

/** Each branch costs two to four requests; of a fleet with more, only these are read. */
const MAX_BRANCHES = 300

/** Reads and evaluates the protection of these branches on GitHub, uncached. Throws `github-unavailable`. */
export async function readGates(desk: GateDesk, branches: readonly GatedBranch[]): Promise<BranchGate[]> {
  const reader = new GateReader(desk)
  const gates: BranchGate[] = []
  for (const [index, branch] of branches.entries()) {
    if (index < MAX_BRANCHES) gates.push(await reader.read(branch))
    else gates.push({ ...branch, gate: undefined, unread: `only ${MAX_BRANCHES} branches are checked` })
  }
  return gates
}

/** Reads each ruleset once, however many branches it is about. */
class GateReader {
  readonly #desk: GateDesk
  readonly #rulesets = new Map<string, Promise<Ruleset | undefined>>()
  readonly #evaluated = new Map<string, Promise<Ruleset[]>>()

  constructor(desk: GateDesk) {
    this.#desk = desk
  }

  async read({ url, branch }: GatedBranch): Promise<BranchGate> {
    const { installation, app } = this.#desk
    const repository = await findRepository(installation, { url })
    const unread = (why: string) => ({ url, branch, gate: undefined, unread: why })
    if (!repository) return unread('the App is not installed on this repository')
    try {
      if ((await installation.head(repository, { branch })) === undefined) return unread('the branch does not exist')
      const check = ownCheckName({ branch, isDefault: branch === repository.defaultBranch })
      return {
        url,
        branch,
        check,
        gate: await this.#evaluateFleet(repository, branch, { name: check, app: app.id }),
      }
    } catch (error) {
      if (error instanceof BailiwickError && error.code === 'not-permitted') return unread('GitHub does not show it')
      throw error
    }
  }

  async #evaluateFleet(found: Repository, branch: string, check: OurCheck) {
    const { installation, app } = this.#desk
    const repository = { ...found, octokit: installation.octokit, app }
    const layers = await readLayers(repository, branch, async (id, checks) =>
      checks.some(one => isTenancyCheck(one.context)) ? this.#ruleset(repository, id) : undefined,
    )
    const known = { url: repository.url, branch, ...layers, evaluated: [], namesakes: [] }
    const first = evaluateProtection(known, check)
    if (first.state === 'real' || first.state === 'weak') return first
    // not gated: looks for rules that resemble a gate, and for namesakes of the check
    const evaluated = (await this.#evaluatedOf(repository)).filter(
      one => one.contexts.includes(check.name) && namesBranch(one, branch, branch === repository.defaultBranch),
    )
    const namesakes = await listNamesakes(repository, { branch, name: check.name })
    return evaluateProtection({ ...known, evaluated: evaluated.map(one => one.name), namesakes }, check)
  }

  #ruleset(repository: Repository, id: number): Promise<Ruleset | undefined> {
    // an organization's ruleset has the same number everywhere
    return remembered(this.#rulesets, `${repository.owner} ${id}`, () =>
      readRuleset({ ...repository, octokit: this.#desk.rulesets }, id),
    )
  }

  #evaluatedOf(repository: Repository): Promise<Ruleset[]> {
    return remembered(this.#evaluated, repository.url, async () => {
      const numbers = await listEvaluatedRulesets({ ...repository, octokit: this.#desk.installation.octokit })
      const found = await Promise.all(numbers.map(id => this.#ruleset(repository, id)))
      return found.filter(one => one !== undefined)
    })
  }
}

function remembered<T>(known: Map<string, Promise<T>>, key: string, ask: () => Promise<T>): Promise<T> {
  const value = known.get(key) ?? ask()
  known.set(key, value)
  return value
}

/** GitHub's facts about the branch of a fleet's trail: its protection, and who wrote its last hundred commits. */
async function readTrailGaps({ installation, rulesets, app }: GateDesk, fleet: Repository): Promise<TrailFacts> {
  const repository = { ...fleet, octokit: installation.octokit }
  const commits = await listBranchCommits(repository, TRAIL_BRANCH)
  if (commits === undefined) return { branch: TRAIL_BRANCH, gaps: undefined }
  const readOne = (id: number) => readRuleset({ ...fleet, octokit: rulesets }, id)
  const layers = await readLayers(repository, TRAIL_BRANCH, readOne)
  const foreign = foreignCommits(commits, app.slug).map(({ sha }) => sha)
  return { branch: TRAIL_BRANCH, gaps: trailGaps({ ...layers, foreign }, app.id) }
}

/** Branch of the pull request; a fleet on another branch than the default one has its own. */
function baselineBranch({ branch, repository }: FleetPlace): string {
  return branch === repository.defaultBranch ? 'bailiwick/baseline' : `bailiwick/baseline-${branch}`
}

/**
 * Opens a baseline pull request for a fleet that has violations and no baseline file, and updates it while it is open.
 * If people closed or merged it, it is not opened again.
 */
async function offerBaseline(
  writer: Writer,
  fleet: FleetPlace,
  survey: FleetSurvey,
  { hasFile, isDesignated }: { readonly hasFile: boolean; readonly isDesignated: boolean },
): Promise<BaselineState> {
  if (hasFile) return { kind: 'present' }
  if (survey.baseline === undefined) return { kind: 'not-needed' }
  if (!isDesignated) return { kind: 'declined' }
  const where = { base: fleet.branch, branch: baselineBranch(fleet) }
  const offer = await readOffer(writer, where)
  if (offer.state === 'closed') return { kind: 'declined' }
  const { title, body } = baselineOfferText(survey)
  try {
    const { number: pull } = await openRecordedPull(writer, {
      ...{ ...where, title, body },
      files: [{ path: BASELINE_FILE, content: survey.baseline }],
    })
    return { kind: 'offered', pull }
  } catch (error) {
    // someone else uses a branch of that name
    if (error instanceof BailiwickError && error.code === 'onboard-input') return { kind: 'declined' }
    if (error instanceof UnopenedPull) return { kind: 'refused' }
    throw error
  }
}
