import { visible } from '../message/visible.ts'
import { fitLines } from '../report/text/fit-lines.ts'
import { placeOf } from '../report/text/place.ts'
import type { CoveredPolicy, RuleCoverage } from '../rules/policies/support/policy-coverage.ts'
import { type TableRow, table } from './table.ts'

export interface PolicyResults {
  readonly policies: readonly CoveredPolicy[]
  /** Address of the local repository. */
  readonly here: string
  /** What is not listed because of `--cluster` and `--tenant`. */
  readonly leftOut: readonly string[]
}

/** Printers of the `policy test` results by output format. */
export const policyReport = { text: textReport, json: jsonReport } as const

const TITLES = ['CLUSTER', 'POLICY', 'RULE', 'PASS', 'DENY', 'WARN', 'AUDIT', 'NOT EVALUATED']

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

const isUndecided = ({ rules, notEvaluated: parts }: Pick<CoveredPolicy, 'rules' | 'notEvaluated'>) =>
  parts.length > 0 || rules.some(({ notEvaluated }) => notEvaluated > 0)

const countsOf = ({ passed, denied, warned, audited, notEvaluated }: RuleCoverage) => [
  passed,
  denied,
  warned,
  audited,
  notEvaluated,
]

function reasons(policies: readonly CoveredPolicy[]): string[] {
  const lines = policies.flatMap(policy =>
    policy.rules.flatMap(({ rule, why, notEvaluated }) =>
      notEvaluated > 0 ? [visible(`not evaluated: ${nameOf(policy)} ${rule} on ${policy.cluster}: ${why}`, 500)] : [],
    ),
  )
  return lines.length === 0 ? [] : [...lines, '']
}

const nameOf = ({ kind, namespace, name }: CoveredPolicy) =>
  `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`

function totalLine(policies: readonly CoveredPolicy[]): string {
  const sum = (of: (one: RuleCoverage) => number) =>
    policies.reduce((all, { rules }) => all + rules.reduce((own, rule) => own + of(rule), 0), 0)
  return `${policies.length} ${policies.length === 1 ? 'policy' : 'policies'}: ${sum(one => one.passed)} passed, ${sum(one => one.denied)} denied, ${sum(one => one.warned + one.audited)} warned or audited, ${sum(one => one.notEvaluated)} not evaluated${partsText(policies)}`
}

/** A policy of which a part is never evaluated counts for no object, so the numbers do not show it. */
function partsText(policies: readonly CoveredPolicy[]): string {
  const parts = policies.filter(({ notEvaluated }) => notEvaluated.length > 0).length
  return parts === 0 ? '' : `; ${parts} of the policies ${parts === 1 ? 'has' : 'have'} a part that is not evaluated`
}

function jsonReport({ policies }: PolicyResults): string {
  return `${JSON.stringify({ policies }, null, 2)}\n`
}
