import { BailiwickError } from '../errors.ts'
import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { whyIncomplete } from '../fleet/model/why-incomplete.ts'
import { type GraphFormat, graphText } from '../report/formats/graph-text.ts'
import { assertKnown } from './assert-known.ts'
import type { Command } from './command.ts'
import { errorLine } from './error-line.ts'
import { parseOptions } from './parse-options.ts'
import { clustersOf, FLEET_HELP, FLEET_OPTIONS, readFleet } from './read-fleet.ts'

const USAGE =
  'graph [FLEET] [--cluster NAME] [--tenant NAME] [--repo URL[#REF]=DIR]... [--repos-dir DIR] [-o mermaid|dot]'

/** `bailiwick graph`: shows which repository each Kustomization of a fleet reads and which Kustomization applies it. */
export const graph: Command = {
  name: 'graph',
  usage: `${USAGE}

  --cluster NAME only this cluster (default: all)
  --tenant NAME  only this tenant and the Kustomizations that apply it
${FLEET_HELP}
  -o mermaid|dot mermaid for Markdown on GitHub (default), dot for Graphviz

Dashed: not visible, or suspended. Red: could not be rendered. Exit code 0: done; 2: a Kustomization could not be rendered.`,
  async run(args, io) {
    const options = parseOptions(args, ['cluster', 'tenant', ...FLEET_OPTIONS, 'output'], USAGE)
    const [fleetDir = '.', more] = options.positionals
    const output = options.one('output') ?? 'mermaid'
    if (more !== undefined) throw usage(`${JSON.stringify(more)} is an extra FLEET`)
    if (output !== 'mermaid' && output !== 'dot')
      throw usage(`-o ${JSON.stringify(output)} is not a format. Allowed: mermaid, dot`)
    const { fleet } = await readFleet(options, fleetDir, io.cwd)
    const clusters = clustersOf(fleet, options.one('cluster'), USAGE)
    const nodes = ofTenant(fleet, options.one('tenant')).filter(({ cluster }) => clusters.includes(cluster))
    io.stdout(graphText(nodes, output satisfies GraphFormat))
    const failed = nodes.filter(node => whyIncomplete(node))
    for (const node of failed) io.stderr(`${errorLine(whyIncomplete(node)!)}\n`)
    return failed.length > 0 ? 2 : 0
  },
}

/** The nodes of a tenant and the nodes that apply them. */
function ofTenant(fleet: Fleet, tenant: string | undefined): readonly FleetNode[] {
  if (tenant === undefined) return fleet.nodes
  assertKnown('tenant', [tenant], new Set(fleet.tenants.map(({ name }) => name)))
  const byKey = new Map(fleet.nodes.map(node => [node.key, node]))
  const kept = new Set<string>()
  for (const node of fleet.nodes) {
    if (node.tenant !== tenant) continue
    for (let here: FleetNode | undefined = node; here && !kept.has(here.key); here = byKey.get(here.parent ?? ''))
      kept.add(here.key)
  }
  return fleet.nodes.filter(({ key }) => kept.has(key))
}

function usage(message: string): BailiwickError {
  return new BailiwickError('usage', message, { fix: `usage: bailiwick ${USAGE}` })
}
