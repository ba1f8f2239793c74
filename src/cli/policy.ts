import { realpath } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import { BailiwickError } from '../errors.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import { whyIncomplete } from '../fleet/model/why-incomplete.ts'
import { diskTree } from '../git/disk-tree.ts'
import { visible } from '../message/visible.ts'
import { findTests, loadTest, TEST_FILE } from '../policy/testing/load-test.ts'
import { runTest } from '../policy/testing/run-test.ts'
import { type CoveredPolicy, policyCoverage } from '../rules/policies/support/policy-coverage.ts'
import type { Command } from './command.ts'
import { errorLine } from './error-line.ts'
import { parseOptions } from './parse-options.ts'
import { type PolicyResults, policyReport, type TestResults } from './policy-report.ts'
import { clustersOf, FLEET_HELP, FLEET_OPTIONS, readFleet } from './read-fleet.ts'
import { rootFolder } from './root-folder.ts'

const USAGE = 'policy test [FLEET] [--cluster NAME] [--repo URL[#REF]=DIR]... [--repos-dir DIR] [-o text|json|junit]'

const FORMATS = ['text', 'json', 'junit'] as const

/** `bailiwick policy test`: evaluates the fleet's policies against its objects, and runs policy tests. */
export const policy: Command = {
  name: 'policy',
  usage: `${USAGE}

${FLEET_HELP}
  --cluster NAME only this cluster (default: all)
  -o FORMAT      text for people; json, junit for programs

Evaluates each admission policy that the platform renders for each object of the fleet, as if the object were created. Runs each ${TEST_FILE} below FLEET: policies, resources, results, variables, userinfo, exceptions. FLEET may be a folder of tests without clusters. Exit code 0: no object is denied and each test passes; 1: an object is denied or a test fails; 2: a Kustomization could not be rendered, or a test could not be evaluated.`,
  async run(args, io) {
    const options = parseOptions(args, ['cluster', ...FLEET_OPTIONS, 'output'], USAGE)
    const [verb, dir = '.', more] = options.positionals
    if (verb !== 'test') throw usage(verb === undefined ? 'a verb is missing' : `unknown verb ${shown(verb)}`)
    if (more !== undefined) throw usage(`${shown(more)} is an extra argument`)
    const output = FORMATS.find(one => one === (options.one('output') ?? 'text'))
    if (!output) throw usage(`-o ${shown(options.one('output')!)} is not a format. Allowed: ${FORMATS.join(', ')}`)
    const tests = await testsBelow(resolve(io.cwd, dir))
    const { fleet, here } = await readFleet(options, dir, io.cwd)
    if (fleet.clusters.length === 0 && tests.length === 0)
      throw usage(`no cluster and no ${TEST_FILE} was found in ${shown(dir)}`)
    const policies = fleet.clusters.length === 0 ? undefined : coverageOf(fleet, options.one('cluster'))
    const problems = [
      ...tests.flatMap(({ error }) => (error ? [error] : [])),
      ...fleet.nodes.flatMap(node => (policies?.clusters.includes(node.cluster) && whyIncomplete(node)) || []),
    ]
    for (const problem of problems) io.stderr(`${errorLine(problem)}\n`)
    const results: PolicyResults = { policies: policies?.covered ?? [], tests, here }
    io.stdout(policyReport[output](results))
    return exitCode(results, problems.length > 0)
  },
}

function coverageOf(fleet: Fleet, cluster: string | undefined) {
  const clusters = clustersOf(fleet, cluster, USAGE)
  return { clusters, covered: policyCoverage(fleet, clusters) }
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

function usage(message: string): BailiwickError {
  return new BailiwickError('usage', message, { fix: `usage: bailiwick ${USAGE}` })
}
