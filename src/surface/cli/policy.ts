import { glob } from 'node:fs/promises'
import { resolve } from 'node:path'
import { BailiwickError } from '../../base/errors.ts'
import { removedWarning } from '../../base/removed.ts'
import { visible } from '../../base/visible.ts'
import { whyIncomplete } from '../../fleet/model/fleet.ts'
import { fitLines } from '../../report/text/fit-budget.ts'
import { placeOf } from '../../report/text/place.ts'
import { type CoveredPolicy, policyCoverage, type RuleCoverage } from '../../rules/policies/policy-coverage.ts'
import type { Command } from './command.ts'
import { FLEET, fleetPart, PART, readFleet } from './read-fleet.ts'
import { errorLine, type TableRow, table } from './terminal.ts'

const TEST_FILE = 'kyverno-test.yaml'

/** `bailiwick policy test`: evaluates the fleet's policies against its objects. */
export const policy: Command = {
  name: 'policy',
  usage: [['test', ''], ...FLEET, ...PART, ['[-o text|json]', 'text for people, json for programs']],
  notes: `Evaluates each admission policy that the platform renders for each object of the fleet, as if the object were created.

Exit code 0: no object is denied; 1: an object is denied; 2: a Kustomization could not be rendered, or no policy was found.`,
  async run(given, io) {
    const { fleet, here } = await readFleet(given, io.cwd)
    const dir = given.one('FLEET') ?? given.one('fleet') ?? '.'
    const hasOldTests = await hasTests(resolve(io.cwd, dir))
    if (hasOldTests) io.stderr(`warning: ${removedWarning(TEST_FILE)}\n`)
    if (fleet.clusters.length === 0) {
      if (hasOldTests) return 2
      throw given.wrong(`no cluster was found in ${shown(dir)}`)
    }
    const { clusters, tenants, leftOut } = fleetPart(fleet, given)
    const policies = policyCoverage(fleet, clusters, tenants)
    if (policies.length === 0) {
      const message = 'no cluster of the fleet renders an admission policy, so nothing was evaluated'
      throw new BailiwickError('nothing-evaluated', message, { fix: 'Name the folder of a fleet with policies.' })
    }
    const problems = fleet.nodes.flatMap(node => (clusters.includes(node.cluster) && whyIncomplete(node)) || [])
    for (const problem of problems) io.stderr(`${errorLine(problem)}\n`)
    const results: PolicyResults = { policies, here, leftOut }
    io.stdout(policyReport[given.format === 'json' ? 'json' : 'text'](results, io.columns))
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

interface PolicyResults {
  readonly policies: readonly CoveredPolicy[]
  /** Address of the local repository. */
  readonly here: string
  /** What is not listed because of `--cluster` and `--tenant`. */
  readonly leftOut: readonly string[]
}

const TITLES = ['CLUSTER', 'POLICY', 'RULE', 'PASS', 'DENY', 'WARN', 'AUDIT', 'NOT EVALUATED']

const isUndecided = ({ rules, notEvaluated: parts }: Pick<CoveredPolicy, 'rules' | 'notEvaluated'>) =>
  parts.length > 0 || rules.some(({ notEvaluated }) => notEvaluated > 0)

const nameOf = ({ kind, namespace, name }: CoveredPolicy) =>
  `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`

const countsOf = ({ passed, denied, warned, audited, notEvaluated }: RuleCoverage) => [
  passed,
  denied,
  warned,
  audited,
  notEvaluated,
]

/** Printers of the `policy test` results by output format. */
const policyReport = { text: textReport, json: jsonReport } as const

function textReport({ policies, here, leftOut }: PolicyResults, width = 100): string {
  const lines = [
    ...table(
      TITLES,
      [...policies].sort(byProblem).flatMap(one => policyRows(one, here)),
      width,
    ),
    '',
    ...reasons(policies),
    totalLine(policies),
    ...leftOut,
  ]
  return `${fitLines(lines, width).join('\n')}\n`
}

function policyRows(policy: CoveredPolicy, here: string): TableRow[] {
  const start = [visible(policy.cluster), visible(nameOf(policy))]
  const parts = policy.notEvaluated.map(part => [...start, part === 'kind' ? '' : part, '', '', '', '', 'all of it'])
  const rules = policy.rules.map(one => [...start, visible(one.rule), ...countsOf(one).map(String)])
  const rows = [...rules, ...parts]
  // on a line of its own: editors and terminals open a path only if it is whole
  const at = visible(placeOf(policy.origin, here))
  return [...(rows.length > 0 ? rows : [[...start, '(no object of the fleet)', '0', '0', '0', '0', '0']]), at]
}

/** Policies that deny come first, then those that are not evaluated. */
function byProblem(a: CoveredPolicy, b: CoveredPolicy): number {
  const weight = ({ rules, notEvaluated }: CoveredPolicy) =>
    rules.some(({ denied }) => denied > 0) ? 0 : isUndecided({ rules, notEvaluated }) ? 1 : 2
  return weight(a) - weight(b)
}

function reasons(policies: readonly CoveredPolicy[]): string[] {
  const lines = policies.flatMap(policy =>
    policy.rules.flatMap(({ rule, why, notEvaluated }) =>
      notEvaluated > 0 ? [visible(`not evaluated: ${nameOf(policy)} ${rule} on ${policy.cluster}: ${why}`, 500)] : [],
    ),
  )
  return lines.length === 0 ? [] : [...lines, '']
}

function totalLine(policies: readonly CoveredPolicy[]): string {
  const sum = (of: (one: RuleCoverage) => number) =>
    policies.reduce((all, { rules }) => all + rules.reduce((own, rule) => own + of(rule), 0), 0)
  return `${policies.length} ${policies.length === 1 ? 'policy' : 'policies'}: ${sum(one => one.passed)} passed, ${sum(one => one.denied)} denied, ${sum(one => one.warned + one.audited)} warned or audited, ${sum(one => one.notEvaluated)} not evaluated${partsText(policies)}`
}

/** A policy with a part that is never evaluated counts for no object, so the numbers do not show it. */
function partsText(policies: readonly CoveredPolicy[]): string {
  const parts = policies.filter(({ notEvaluated }) => notEvaluated.length > 0).length
  return parts === 0 ? '' : `; ${parts} of the policies ${parts === 1 ? 'has' : 'have'} a part that is not evaluated`
}

function jsonReport({ policies }: PolicyResults): string {
  return `${JSON.stringify({ policies }, null, 2)}\n`
}
