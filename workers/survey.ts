import { BailiwickError } from '../src/errors.ts'
import type { Survey } from '../src/queue/queue.ts'
import { believedFleets } from './combination/believed-fleets.ts'
import { githubInstallation } from './combination/github-installation.ts'
import type { Installation } from './combination/installation.ts'
import { judgeCombination } from './combination/judge-combination.ts'
import { SourceReader } from './combination/source-reader.ts'
import { type SurveyedPlace, surveyPlace } from './survey/survey-place.ts'
import { speaker } from './verdict/speaker.ts'
import type { WorkerContext } from './worker-context.ts'

/** What GitHub refuses for good on one repository (it is archived, it is gone) keeps nothing from the others. */
const OF_ONE_REPOSITORY: readonly string[] = ['not-permitted', 'git-missing', 'onboard-input', 'source-unreadable']

/**
 * Looks at every fleet of an installation and says on its repository what was found and whether the gate is real: one issue,
 * edited in place, and the offer of a baseline. Writes nothing when nothing changed. Throws `github-unavailable`.
 */
export async function survey(context: WorkerContext, { installation: id }: Survey): Promise<void> {
  const [reader, rulesets, app] = await Promise.all([
    context.app.reader(id),
    context.app.client(id),
    context.app.identity(),
  ])
  const installation = githubInstallation(context, id, reader)
  for (const found of await surveyedPlaces(context, installation)) {
    try {
      const { id: repository } = found.fleet.repository
      const writer = await speaker(context, id, repository)
      await surveyPlace(context, { gates: { reader, rulesets, app }, writer, installation }, found)
    } catch (error) {
      if (!(error instanceof BailiwickError) || !OF_ONE_REPOSITORY.includes(error.code)) throw error
      context.log.warn({ err: error, fleet: found.fleet.repository.url }, 'a fleet could not be told what was found')
    }
  }
}

/**
 * The fleets that are told: those that the operator bound, where there are any. Else every repository that looks like one,
 * but for those that another one deploys from and that deploy nothing of others: a tenant's, whatever it calls its folders.
 */
export async function surveyedPlaces(context: WorkerContext, installation: Installation): Promise<SurveyedPlace[]> {
  const believed = (await believedFleets(context, installation)).filter(({ alone }) => !alone)
  const places = believed.map(({ place }) => place).filter(({ repository }) => !repository.archived)
  const found: SurveyedPlace[] = []
  for (const fleet of places) {
    const { evaluator, disabledRules } = context
    try {
      const judged = await judgeCombination(evaluator, new SourceReader(installation), { fleet, disabledRules })
      found.push({ fleet, judged })
    } catch (error) {
      if (!(error instanceof BailiwickError) || !OF_ONE_REPOSITORY.includes(error.code)) throw error
      context.log.warn({ err: error, fleet: fleet.repository.url }, 'a fleet could not be looked at')
    }
  }
  const isBound = ({ fleet: { repository, branch } }: SurveyedPlace) =>
    context.bindings.some(binding => binding.fleet === repository.url && binding.branch === branch)
  return found.filter(one => isBound(one) || !isTenants(one, found))
}

function isTenants(place: SurveyedPlace, all: readonly SurveyedPlace[]): boolean {
  const reads = ({ judged }: SurveyedPlace, url: string) => judged.sources.some(source => source.url === url)
  const { url } = place.fleet.repository
  if (place.judged.sources.some(source => source.url !== url)) return false
  return all.some(other => other.fleet.repository.url !== url && reads(other, url))
}
