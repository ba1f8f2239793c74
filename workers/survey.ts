import { BailiwickError } from '../src/errors.ts'
import type { Survey } from '../src/queue/queue.ts'
import { fleetPlaces } from './combination/fleet-places.ts'
import { githubInstallation } from './combination/github-installation.ts'
import type { Installation } from './combination/installation.ts'
import { type FleetPlace, judgeCombination } from './combination/judge-combination.ts'
import { SourceReader } from './combination/source-reader.ts'
import { type SurveyedPlace, surveyPlace } from './survey/survey-place.ts'
import type { WorkerContext } from './worker-context.ts'

/** What GitHub refuses for good on one repository (it is archived, it is gone) keeps nothing from the others. */
const OF_ONE_REPOSITORY: readonly string[] = ['not-permitted', 'git-missing', 'onboard-input', 'source-unreadable']

/**
 * Looks at every fleet of an installation and says on its repository what was found and whether the gate is real: one issue,
 * edited in place, and the offer of a baseline. Writes nothing when nothing changed. Throws `github-unavailable`.
 */
export async function survey(context: WorkerContext, { installation: id }: Survey): Promise<void> {
  const octokit = await context.app.client(id)
  const place = { octokit, app: await context.app.identity() }
  const installation = githubInstallation(context, id, octokit)
  for (const found of await surveyedPlaces(context, installation)) {
    try {
      await surveyPlace(context, place, installation, found)
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
  const places = await fleetPlaces(installation, context.bindings)
  const isBound = ({ repository, branch }: FleetPlace) =>
    context.bindings.some(binding => binding.fleet === repository.url && binding.branch === branch)
  const bound = places.filter(isBound)
  const found: SurveyedPlace[] = []
  for (const fleet of bound.length > 0 ? bound : places) {
    const { evaluator, disabledRules } = context
    try {
      const judged = await judgeCombination(evaluator, new SourceReader(installation), { fleet, disabledRules })
      found.push({ fleet, judged })
    } catch (error) {
      if (!(error instanceof BailiwickError) || !OF_ONE_REPOSITORY.includes(error.code)) throw error
      context.log.warn({ err: error, fleet: fleet.repository.url }, 'a fleet could not be looked at')
    }
  }
  return bound.length > 0 ? found : found.filter(one => !isTenants(one, found))
}

function isTenants(place: SurveyedPlace, all: readonly SurveyedPlace[]): boolean {
  const reads = ({ judged }: SurveyedPlace, url: string) => judged.sources.some(source => source.url === url)
  const { url } = place.fleet.repository
  if (place.judged.sources.some(source => source.url !== url)) return false
  return all.some(other => other.fleet.repository.url !== url && reads(other, url))
}
