import { FleetIndex } from '../../facts/fleet-index.ts'
import { whyIncomplete } from '../../fleet/model/why-incomplete.ts'
import { assertKnown } from '../assert-known.ts'
import { errorLine } from '../error-line.ts'
import { readFleet } from '../read-fleet.ts'
import type { Roots } from './open-roots.ts'
import type { ToolArguments } from './read-arguments.ts'

/** Opens the fleet that the tool's arguments name, with the requested clusters and what is not known about them. Throws BailiwickError. */
export async function openFleet(given: ToolArguments, roots: Roots) {
  const path = await roots.repository(given.one('fleet') ?? '.')
  const reposDir = given.one('repos_dir')
  const clones = reposDir === undefined ? undefined : (await roots.folder(reposDir)).path
  const options = { one: (name: string) => (name === 'repos-dir' ? clones : undefined), all: () => [] }
  const { fleet } = await readFleet(options, path, roots.first)
  const names = fleet.clusters.map(({ name }) => name)
  const cluster = given.one('cluster')
  if (cluster !== undefined) assertKnown('cluster', [cluster], new Set(names))
  const clusters = cluster === undefined ? names : [cluster]
  const failed = fleet.nodes.filter(node => clusters.includes(node.cluster) && whyIncomplete(node))
  const unknown = [
    ...failed.map(node => errorLine(whyIncomplete(node)!)),
    ...fleet.notSeen.map(({ source, url, reason }) => `${source} (${url}) is not visible: ${reason}`),
  ]
  return { fleet, clusters, index: new FleetIndex(fleet), unknown: [...new Set(unknown)] }
}
