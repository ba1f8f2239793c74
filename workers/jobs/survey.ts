import type { DesignationRecord } from '../../src/github/designate.ts'
import type { Survey } from '../../src/receive/queue.ts'
import { evaluateRevisionSet } from '../fleets/evaluate-revision-set.ts'
import { githubInstallation, openWriter } from '../fleets/github-installation.ts'
import { SourceReader } from '../fleets/source-reader.ts'
import {
  changesKey,
  type DesignatedFleets,
  type FleetPlace,
  type Installation,
  type WorkerContext,
} from '../fleets/worker-context.ts'
import { type SurveyedPlace, surveyPlace } from '../gate/survey-place.ts'
import { isPassing } from '../job-error.ts'

/**
 * Surveys every fleet of an installation and publishes the first report in its repository: one issue, edited in place,
 * and the baseline pull request. Writes nothing if nothing changed. Throws `github-unavailable`.
 */
export async function survey(context: WorkerContext, { installation: id }: Survey): Promise<void> {
  const [reader, rulesets, app] = await Promise.all([
    context.app.reader(id),
    context.app.client(id),
    context.app.identity(),
  ])
  const installation = githubInstallation(context, id, reader)
  // what looks like a fleet may have changed
  await context.queue.withLock(changesKey(id), async () => context.designations.forget(id))
  const designated = await installation.designation()
  const record = writtenRecord(id, designated)
  const desk = { installation, app, rulesets, designation: designated.designation, record }
  for (const found of await surveyedPlaces(context, installation)) {
    try {
      await surveyPlace(await openWriter(context, id, found.fleet.repository), desk, found)
    } catch (error) {
      // archived, gone, or not readable: that must not stop the others
      if (isPassing(error)) throw error
      context.log.warn({ err: error, fleet: found.fleet.repository.url }, 'first report could not be published')
    }
  }
}

/** The designated fleets; if none is designated, each repository that looks like one by itself. */
async function surveyedPlaces(context: WorkerContext, installation: Installation): Promise<SurveyedPlace[]> {
  const { evaluator, disabledRules } = context
  const designated = await installation.designation()
  const candidates = await candidatesOf(installation, designated)
  const found: SurveyedPlace[] = []
  for (const fleet of [...designated.fleets, ...candidates]) {
    if (fleet.repository.archived) continue
    const reader = new SourceReader(installation, candidates.includes(fleet) ? fleet.repository.url : undefined)
    try {
      const evaluated = await evaluateRevisionSet(evaluator, reader, { fleet, disabledRules })
      found.push({ fleet, evaluated })
    } catch (error) {
      // archived, gone, or not readable: that must not stop the others
      if (isPassing(error)) throw error
      context.log.warn({ err: error, fleet: fleet.repository.url }, 'fleet could not be surveyed')
    }
  }
  return found
}

async function candidatesOf(installation: Installation, { designation }: DesignatedFleets): Promise<FleetPlace[]> {
  if (designation.state !== 'undecided') return []
  const { candidates } = designation
  const repositories = await installation.repositories()
  return repositories
    .filter(({ id }) => candidates.includes(id))
    .map(repository => ({ repository, branch: repository.defaultBranch }))
}

/**
 * The record for the first reports of an installation, without its place: the found one, or the one decided now.
 * Undefined if the operator decides, or there is nothing to keep.
 */
function writtenRecord(
  installation: number,
  { designation, record }: DesignatedFleets,
): Omit<DesignationRecord, 'at'> | undefined {
  if (record) return record
  const first = { installation, generation: 1 }
  if (designation.state !== 'designated' || designation.by === 'operator') return undefined
  return { ...first, state: 'designated', by: designation.by, fleets: designation.fleets }
}
