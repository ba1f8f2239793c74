import { hash } from 'node:crypto'
import type { FleetSurvey } from '../../src/audit/survey-fleet.ts'
import { type DesignationRecord, designationMarker } from '../../src/designation/designation-record.ts'
import { NOTHING_EVALUATED } from '../../src/evaluate/verdict/evaluated.ts'
import { upsertIssue } from '../../src/github/issues/upsert-issue.ts'
import type { FirstReportFacts } from '../../src/report/first-report/facts.ts'
import { firstReport, REPORT_MARKER, REPORT_TITLE } from '../../src/report/first-report/first-report.ts'
import { BASELINE_FILE } from '../../src/rules/model/baseline.ts'
import type { DesignatedFleets } from '../context/designated-fleets.ts'
import type { Installation } from '../context/installation.ts'
import type { FleetPlace } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { EvaluatedRevisionSet } from '../fleets/evaluate-combination.ts'
import { narrowerSources, withoutSources } from '../fleets/narrower-sources.ts'
import type { PublishTarget } from '../publish/publish-verdict.ts'
import { offerBaseline } from './offer-baseline.ts'
import { type GateDesk, readGates } from './read-gates.ts'
import { readTrailGaps } from './read-trail-gaps.ts'

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
  if (answer.type === 'wanted') throw new Error('a fleet asks for sources that its judgement did not read')
  const { errors } = evaluation.verdict
  const own = { url: repository.url, branch }
  return {
    summary: evaluation.verdict.summary,
    ...{ clusters: [], tenants: [], seen: [], notSeen: [], audit: [], legacy: [], worst: [] },
    ...{ errors, errorCount: errors.length, evaluated: NOTHING_EVALUATED, gated: [own], enforcement: 'block' },
  }
}

/** As whom is looked, everywhere, and as whom is written: on the fleet's own repository only. */
interface SurveyDesk {
  readonly gates: GateDesk
  readonly writer: Pick<PublishTarget, 'octokit' | 'app'>
  readonly installation: Installation
  readonly designation: DesignatedFleets['designation']
  /** The record that the report keeps; undefined where the operator decides. */
  readonly record: Omit<DesignationRecord, 'at'> | undefined
}

/** Publishes the survey in the fleet's repository: the baseline pull request if needed, and the first report. */
export async function surveyPlace(context: WorkerContext, desk: SurveyDesk, surveyed: SurveyedPlace): Promise<void> {
  const { gates, writer, installation, record } = desk
  const { repository, branch } = surveyed.fleet
  const survey = await surveyOf(context, installation, surveyed)
  const { entries } = await installation.content(repository, surveyed.evaluated.fleetCommit)
  const has = (path: string) => entries.some(entry => entry.path === path)
  const facts: FirstReportFacts = {
    url: repository.url,
    survey,
    gates: await readGates(gates, installation, survey.gated),
    baseline: await offerBaseline({ context, installation }, writer, surveyed.fleet, survey, has(BASELINE_FILE)),
    hasForm: has(FORM),
    trail: context.outbox ? await readTrailGaps(gates, repository) : 'off',
    ...openDesignation(desk, repository.id),
  }
  const isDefault = branch === repository.defaultBranch
  const marker = isDefault
    ? REPORT_MARKER
    : REPORT_MARKER.replace(' -->', ` ${hash('sha256', branch).slice(0, 12)} -->`)
  const name = { owner: repository.owner, repo: repository.name }
  const seal = record ? `${designationMarker({ ...record, at: repository.id }, context.config.privateKey)}\n` : ''
  const written = await upsertIssue(writer.octokit, writer.app, name, {
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
  return designation.state === 'undecided' && designation.reason === 'several'
    ? { designation: { kind: 'several' } }
    : {}
}
