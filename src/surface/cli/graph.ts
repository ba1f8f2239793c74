import { whyIncomplete } from '../../fleet/model/fleet.ts'
import { graphText, withParents } from '../../report/formats/graph-text.ts'
import type { Command } from './command.ts'
import { FLEET, fleetPart, PART, readFleet } from './read-fleet.ts'
import { errorLine } from './terminal.ts'

/** `bailiwick graph`: shows which repository each Kustomization of a fleet reads and which Kustomization applies it. */
export const graph: Command = {
  name: 'graph',
  usage: [
    PART[0],
    ['[--tenant NAME]...', 'only this tenant and the Kustomizations that apply it (repeatable)'],
    ...FLEET,
  ],
  notes:
    'Dashed: not visible, or suspended. Red: could not be rendered. Exit code 0: done; 2: a Kustomization could not be rendered.',
  async run(given, io) {
    const { fleet } = await readFleet(given, io.cwd)
    const part = fleetPart(fleet, given)
    const nodes = withParents(fleet.nodes, fleet.nodes.filter(part.has))
    for (const line of part.leftOut) io.stderr(`note: ${line} (but for what applies these)\n`)
    const text = graphText(nodes)
    io.stdout(text)
    if (isTooLarge(text)) io.stderr(TOO_LARGE)
    const failed = nodes.filter(node => whyIncomplete(node))
    for (const node of failed) io.stderr(`${errorLine(whyIncomplete(node)!)}\n`)
    return failed.length > 0 ? 2 : 0
  },
}

/** `maxTextSize` and `maxEdges` of Mermaid, which GitHub does not change. */
const MAX_TEXT = 50_000
const MAX_EDGES = 500
const TOO_LARGE =
  'note: Mermaid draws no more than 50,000 characters and 500 edges, so GitHub does not show this drawing. Draw a part with --cluster or --tenant.\n'

const isTooLarge = (text: string) => text.length > MAX_TEXT || text.split(/ (?:-->|==>) /).length - 1 > MAX_EDGES
