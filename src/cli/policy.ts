import { realpath } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import { BailiwickError } from '../errors.ts'
import { whyIncomplete } from '../fleet/model/why-incomplete.ts'
import { diskTree } from '../git/disk-tree.ts'
import { visible } from '../message/visible.ts'
import { findTests, loadTest, TEST_FILE } from '../policy/testing/load-test.ts'
import { runTest } from '../policy/testing/run-test.ts'
import { type CoveredPolicy, policyCoverage } from '../rules/policies/support/policy-coverage.ts'
import { allowedWord } from './allowed-word.ts'
import type { Command } from './command.ts'
import { errorLine } from './error-line.ts'
import { fleetPart, PART_HELP, PART_OPTIONS } from './fleet-part.ts'
import { parseOptions } from './parse-options.ts'
import { type PolicyResults, policyReport, type TestResults } from './policy-report.ts'
import { FLEET_HELP, FLEET_OPTIONS, readFleet } from './read-fleet.ts'
import { rootFolder } from './root-folder.ts'
import { usageError } from './usage-error.ts'

const USAGE =
  'policy test [FLEET] [--cluster NAME]... [--tenant NAME]... [--repo URL[#REF]=DIR]... [--repos-dir DIR] [-o text|json|junit]'

const FORMATS = ['text', 'json', 'junit'] as const

/** `bailiwick policy test`: evaluates the fleet's policies against its objects, and runs policy tests. */
export const policy: Command = {
  name: 'policy',
  usage: `${USAGE}

${FLEET_HELP}
${PART_HELP}
  -o FORMAT      text for people; json, junit for programs

Evaluates each admission policy that the platform renders for each object of the fleet, as if the object were created. Runs each ${TEST_FILE} below FLEET: policies, resources, results, variables, userinfo, exceptions. FLEET may be a folder of tests without clusters.

Exit code 0: no object is denied and each test passes; 1: an object is denied or a test fails; 2: a Kustomization could not be rendered, a test could not be evaluated, or neither was found.`,
  async run(args, io) {
    const options = parseOptions(args, [...PART_OPTIONS, ...FLEET_OPTIONS, 'output'], USAGE)
    const [verb, dir = '.', more] = options.positionals
    allowedWord(USAGE, 'subcommand', verb, ['test'])
    if (more !== undefined) throw usage(`${shown(more)} is an extra argument`)
    const output = options.format(FORMATS)
    const tests = await testsBelow(resolve(io.cwd, dir))
    const { fleet, here } = await readFleet(options, dir, io.cwd)
    if (fleet.clusters.length === 0 && tests.length === 0)
      throw usage(`no cluster and no ${TEST_FILE} was found in ${shown(dir)}`)
    const part = fleet.clusters.length === 0 ? undefined : fleetPart(fleet, options, USAGE)
    const policies = part ? policyCoverage(fleet, part.clusters, part.tenants) : []
    if (policies.length === 0 && tests.length === 0) {
      const message = `no cluster of the fleet renders an admission policy, and no ${TEST_FILE} was found in ${shown(dir)}, so nothing was evaluated`
      throw new BailiwickError('nothing-evaluated', message, {
        fix: 'Name the folder of a fleet with policies, or of policy tests.',
      })
    }
    const problems = [
      ...tests.flatMap(({ error }) => (error ? [error] : [])),
      ...fleet.nodes.flatMap(node => (part?.clusters.includes(node.cluster) && whyIncomplete(node)) || []),
    ]
    for (const problem of problems) io.stderr(`${errorLine(problem)}\n`)
    const results: PolicyResults = { policies, tests, here, leftOut: part?.leftOut ?? [] }
    io.stdout(policyReport[output](results, io.columns))
    return exitCode(results, problems.length > 0)
  },
}

function exitCode({ policies, tests }: PolicyResults, isIncomplete: boolean): number {
  const rows = tests.flatMap(one => one.rows)
  if (isIncomplete || rows.some(({ status }) => status === 'not evaluated')) return 2
  const isDenied = ({ rules }: CoveredPolicy) => rules.some(({ denied }) => denied > 0)
  return rows.some(({ status }) => status === 'failed') || policies.some(isDenied) ? 1 : 0
}

/** Runs the tests below a folder. A file that cannot be read is an error of that test. */
async function testsBelow(dir: string): Promise<TestResults[]> {
  const root = await rootFolder(dir)
  const folder = relative(root, await realpath(dir))
    .split(sep)
    .join('/')
  const tree = diskTree(root)
  return findTests(tree, folder).map((file): TestResults => {
    try {
      const loaded = loadTest(tree, file, '')
      return { file, name: loaded.test.name, rows: runTest(loaded) }
    } catch (error) {
      if (!(error instanceof BailiwickError)) throw error
      return { file, name: '', rows: [], error }
    }
  })
}

const shown = (text: string) => JSON.stringify(visible(text, 100))

const usage = (message: string) => usageError(USAGE, message)
