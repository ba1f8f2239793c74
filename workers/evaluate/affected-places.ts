import { affectedRepositories } from '../../src/evaluate/verdict/affected-repositories.ts'
import { FLEET_FILE } from '../../src/fleet/model/fleet-config.ts'
import { mayLeadTo } from '../../src/fleet/model/named-repositories.ts'
import type { Installation } from '../context/installation.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { evaluateChange, type FleetAnswer } from '../fleets/evaluate-change.ts'
import type { Pin } from '../fleets/source-reader.ts'
import { isPassing } from '../job-error.ts'

/**
 * Finds the other repositories whose open pull requests may get another verdict after a push from `before` to `head`,
 * by evaluating both in the present revision set. Most pushes affect none.
 */
export async function affectedPlaces(
  context: WorkerContext,
  { installation, repository }: OpenedRepository,
  head: Pin,
  before: string,
  answers: readonly FleetAnswer[],
): Promise<readonly ReadableRepository[]> {
  const earlier = await evaluatedEarlier(context, installation, { url: head.url, branch: head.branch, commit: before })
  const rulesMoved = earlier !== undefined && (await hasOtherRules({ installation, repository }, head.commit, before))
  const known = earlier ?? []
  const urls = new Set<string>()
  for (const answer of answers) {
    const was = known.find(one => keyOf(one) === keyOf(answer))
    const isFleet = answer.place.repository.url === repository.url
    const affected =
      was && !(isFleet && rulesMoved) ? affectedRepositories(was.evaluation, answer.evaluation) : everybody(answer)
    for (const url of affected) urls.add(url)
  }
  const hidden = hiddenOf(known) === hiddenOf(answers) ? [] : [...known, ...answers].flatMap(namesIn)
  const readable = await installation.repositories()
  const concerned = readable.filter(({ url }) => urls.has(url) || mayLeadTo(hidden, url))
  return concerned.filter(({ url, archived }) => url !== repository.url && !archived)
}

/** Where nodes that could not be built may lead. */
const namesIn = ({ evaluation }: FleetAnswer): string[] => evaluation.nodes.flatMap(node => node.hides)

const hiddenOf = (answers: readonly FleetAnswer[]): string => JSON.stringify(answers.map(namesIn))

/**
 * The earlier evaluation; undefined if it cannot be repeated, as after a force push: then every repository may be
 * affected.
 */
export async function evaluatedEarlier(
  context: WorkerContext,
  installation: Installation,
  head: Pin,
): Promise<readonly FleetAnswer[] | undefined> {
  try {
    return await evaluateChange(context, installation, { head })
  } catch (error) {
    if (isPassing(error)) throw error
    context.log.warn(
      { err: error, commit: `${head.url}@${head.commit}` },
      'previous state of a branch could not be evaluated',
    )
    return undefined
  }
}

/** What the fleet's own file says counts for everybody. */
async function hasOtherRules(
  { installation, repository }: Pick<OpenedRepository, 'installation' | 'repository'>,
  head: string,
  before: string,
): Promise<boolean> {
  const trees = await Promise.all([installation.content(repository, head), installation.content(repository, before)])
  const [now, then] = trees.map(tree => tree.entries.find(({ path }) => path === FLEET_FILE)?.id)
  return now !== then
}

const keyOf = ({ place }: FleetAnswer) => JSON.stringify([place.repository.url, place.branch])

const everybody = ({ evaluation }: FleetAnswer): string[] => evaluation.nodes.map(({ source }) => source.url)
