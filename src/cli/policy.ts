import { glob } from 'node:fs/promises'
import { resolve } from 'node:path'
import { BailiwickError } from '../errors.ts'
import { whyIncomplete } from '../fleet/model/why-incomplete.ts'
import { removedWarning } from '../message/removed.ts'
import { visible } from '../message/visible.ts'
import { policyCoverage } from '../rules/policies/support/policy-coverage.ts'
import { allowedWord } from './allowed-word.ts'
import type { Command } from './command.ts'
import { errorLine } from './error-line.ts'
import { fleetPart, PART_HELP, PART_OPTIONS } from './fleet-part.ts'
import { parseOptions } from './parse-options.ts'
import { type PolicyResults, policyReport } from './policy-report.ts'
import { FLEET_HELP, FLEET_OPTIONS, readFleet } from './read-fleet.ts'
import { usageError } from './usage-error.ts'

const USAGE =
  'policy test [FLEET] [--cluster NAME]... [--tenant NAME]... [--repo URL[#REF]=DIR]... [--repos-dir DIR] [-o text|json]'

const FORMATS = ['text', 'json'] as const

const TEST_FILE = 'kyverno-test.yaml'

/** `bailiwick policy test`: evaluates the fleet's policies against its objects. */
export const policy: Command = {
  name: 'policy',
  usage: `${USAGE}

${FLEET_HELP}
${PART_HELP}
  -o FORMAT      text for people, json for programs

Evaluates each admission policy that the platform renders for each object of the fleet, as if the object were created.

Exit code 0: no object is denied; 1: an object is denied; 2: a Kustomization could not be rendered, or no policy was found.`,
  async run(args, io) {
    const options = parseOptions(args, [...PART_OPTIONS, ...FLEET_OPTIONS, 'output'], USAGE)
    const [verb, dir = '.', more] = options.positionals
    allowedWord(USAGE, 'subcommand', verb, ['test'])
    if (more !== undefined) throw usage(`${shown(more)} is an extra argument`)
    const output = options.format(FORMATS)
    const { fleet, here } = await readFleet(options, dir, io.cwd)
    const hasOldTests = await hasTests(resolve(io.cwd, dir))
    if (hasOldTests) io.stderr(`warning: ${removedWarning(TEST_FILE)}\n`)
    if (fleet.clusters.length === 0) {
      if (hasOldTests) return 2
      throw usage(`no cluster was found in ${shown(dir)}`)
    }
    const { clusters, tenants, leftOut } = fleetPart(fleet, options, USAGE)
    const policies = policyCoverage(fleet, clusters, tenants)
    if (policies.length === 0) {
      const message = 'no cluster of the fleet renders an admission policy, so nothing was evaluated'
      throw new BailiwickError('nothing-evaluated', message, { fix: 'Name the folder of a fleet with policies.' })
    }
    const problems = fleet.nodes.flatMap(node => (clusters.includes(node.cluster) && whyIncomplete(node)) || [])
    for (const problem of problems) io.stderr(`${errorLine(problem)}\n`)
    const results: PolicyResults = { policies, here, leftOut }
    io.stdout(policyReport[output](results, io.columns))
    return exitCode(results, problems.length > 0)
  },
}

function exitCode({ policies }: PolicyResults, isIncomplete: boolean): number {
  if (isIncomplete) return 2
  return policies.some(({ rules }) => rules.some(({ denied }) => denied > 0)) ? 1 : 0
}

/** Whether a folder has test files of Kyverno, which earlier releases ran. */
async function hasTests(dir: string): Promise<boolean> {
  const exclude = (name: string) => name === 'node_modules' || name === '.git'
  for await (const _ of glob(`**/${TEST_FILE}`, { cwd: dir, exclude })) return true
  return false
}

const shown = (text: string) => JSON.stringify(visible(text, 100))

const usage = (message: string) => usageError(USAGE, message)
