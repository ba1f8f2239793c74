import { FLEET_FILE } from '../fleet/model/fleet-config.ts'
import { andMore } from '../message/and-more.ts'
import type { Verdict } from '../rules/model/finding.ts'

/** So many are named. */
const MAX_NAMED = 5

/**
 * One line for the clusters of which nothing in git says where Flux starts, in plain text; undefined without any. `audience`:
 * tenants that may not be told how the folders of the fleet are called.
 */
export function assumedClusters(
  { clusters }: Pick<Verdict, 'clusters'>,
  audience?: readonly string[],
): string | undefined {
  const assumed = clusters.filter(({ how }) => how === 'assumed')
  const [first] = assumed
  if (!first) return undefined
  const isOwn = audience === undefined
  const declare = `under clusters in ${FLEET_FILE}${isOwn ? '' : ' of the fleet'}`
  if (assumed.length === 1) {
    const where = isOwn ? `at ${first.path || './'}` : 'where it was evaluated from'
    return `Cluster ${first.name} is assumed: nothing in git says that Flux starts ${where}. Declare it ${declare}.`
  }
  const names = assumed.slice(0, MAX_NAMED).map(({ name, path }) => (isOwn ? `${name} (${path || './'})` : name))
  const left = assumed.length - names.length
  const list = `${names.join(', ')}${andMore(left)}`
  return `Clusters ${list} are assumed: nothing in git says that Flux starts there. Declare them ${declare}.`
}
