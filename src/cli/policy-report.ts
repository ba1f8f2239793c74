import type { BailiwickError } from '../errors.ts'
import { visible } from '../message/visible.ts'
import type { TestRow } from '../policy/testing/run-test.ts'
import { xmlText } from '../report/formats/xml-text.ts'
import { fitLines } from '../report/text/fit-lines.ts'
import { count } from '../report/text/headline.ts'
import { placeOf } from '../report/text/place.ts'
import type { CoveredPolicy, RuleCoverage } from '../rules/policies/support/policy-coverage.ts'
import { type TableRow, table } from './table.ts'

/** A test file and its results. */
export interface TestResults {
  readonly file: string
  readonly name: string
  readonly rows: readonly TestRow[]
  readonly error?: BailiwickError
}

export interface PolicyResults {
  readonly policies: readonly CoveredPolicy[]
  readonly tests: readonly TestResults[]
  /** Address of the local repository. */
  readonly here: string
  /** What is not listed because of `--cluster` and `--tenant`. */
  readonly leftOut: readonly string[]
}

/** Printers of the `policy test` results by output format. */
export const policyReport = { text: textReport, json: jsonReport, junit: junitReport } as const

const TITLES = ['CLUSTER', 'POLICY', 'RULE', 'PASS', 'DENY', 'WARN', 'AUDIT', 'NOT EVALUATED']

function textReport({ policies, tests, here, leftOut }: PolicyResults, width = 100): string {
  const lines = [
    ...(policies.length === 0
      ? []
      : [
          ...table(
            TITLES,
            [...policies].sort(byProblem).flatMap(one => policyRows(one, here)),
            width,
          ),
          '',
        ]),
    ...reasons(policies),
    ...tests.flatMap(testLines),
    totalLine(policies, tests),
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

function testLines({ file, name, rows, error }: TestResults): string[] {
  const of = (status: TestRow['status']) => rows.filter(row => row.status === status)
  const counts = error
    ? 'not read'
    : `${of('ok').length} ok, ${of('failed').length} failed, ${of('not evaluated').length} not evaluated`
  return [
    visible(`${file}${name === '' ? '' : ` (${name})`}: ${counts}`),
    ...[...of('failed'), ...of('not evaluated')].map(row => {
      const about = `${row.policy}${row.rule === '' ? '' : ` ${row.rule}`}${row.resource === '' ? '' : `, ${row.resource}`}`
      const message = row.message === '' ? '' : `: ${row.message}`
      return `  ${visible(`${row.status} (line ${row.origin.line}): ${about}: expected ${row.expected}, got ${row.actual}${message}`, 600)}`
    }),
  ]
}

function totalLine(policies: readonly CoveredPolicy[], tests: readonly TestResults[]): string {
  const sum = (of: (one: RuleCoverage) => number) =>
    policies.reduce((all, { rules }) => all + rules.reduce((own, rule) => own + of(rule), 0), 0)
  const rows = tests.flatMap(one => one.rows)
  const rowsOf = (status: TestRow['status']) => rows.filter(row => row.status === status).length
  const fleet =
    policies.length === 0
      ? []
      : [
          `${policies.length} ${policies.length === 1 ? 'policy' : 'policies'}: ${sum(one => one.passed)} passed, ${sum(one => one.denied)} denied, ${sum(one => one.warned + one.audited)} warned or audited, ${sum(one => one.notEvaluated)} not evaluated${partsText(policies)}`,
        ]
  const run =
    tests.length === 0
      ? []
      : [
          `${count(tests.length, 'test file')}: ${rowsOf('ok')} ok, ${rowsOf('failed')} failed, ${rowsOf('not evaluated')} not evaluated, ${tests.filter(one => one.error).length} not read`,
        ]
  return [...fleet, ...run].join('; ') || 'no policies'
}

/** A policy of which a part is never evaluated counts for no object, so the numbers do not show it. */
function partsText(policies: readonly CoveredPolicy[]): string {
  const parts = policies.filter(({ notEvaluated }) => notEvaluated.length > 0).length
  return parts === 0 ? '' : `; ${parts} of the policies ${parts === 1 ? 'has' : 'have'} a part that is not evaluated`
}

function jsonReport({ policies, tests }: PolicyResults): string {
  const files = tests.map(({ file, name, rows, error }) => ({
    ...{ file, name },
    ...(error ? { error: { code: error.code, message: error.message } } : {}),
    results: rows.map(({ origin, ...row }) => ({ ...row, line: origin.line })),
  }))
  return `${JSON.stringify({ policies, tests: files }, null, 2)}\n`
}

/** One suite per cluster with a case per rule, and one suite per test file. */
function junitReport({ policies, tests }: PolicyResults): string {
  const clusters = [...Map.groupBy(policies, ({ cluster }) => cluster)].map(([cluster, own]) => ({
    name: cluster,
    cases: own.flatMap(policy => [...policy.rules.map(rule => ruleCase(policy, rule)), ...partCases(policy)]),
  }))
  const files = tests.map(({ file, rows, error }) => ({
    name: file,
    cases: error ? [{ name: 'read', problem: 'error' as const, text: error.message }] : rows.map(testCase),
  }))
  const suites = [...clusters, ...files]
  const all = suites.flatMap(({ cases }) => cases)
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="bailiwick policy test" ${totals(all)}>`,
    ...suites.flatMap(({ name, cases }) => [
      `  <testsuite name="${xmlText(name)}" ${totals(cases)}>`,
      ...cases.map(one => caseLine(name, one)),
      '  </testsuite>',
    ]),
    '</testsuites>',
  ].join('\n')}\n`
}

interface Case {
  readonly name: string
  readonly problem?: 'failure' | 'error' | 'skipped' | undefined
  readonly text: string
}

function ruleCase(policy: CoveredPolicy, { rule, denied, notEvaluated, why }: RuleCoverage): Case {
  const text =
    denied > 0
      ? `${denied} objects are denied`
      : notEvaluated > 0
        ? `${notEvaluated} objects not evaluated: ${why}`
        : ''
  const problem = denied > 0 ? 'failure' : notEvaluated > 0 ? 'skipped' : undefined
  return { name: `${nameOf(policy)} ${rule}`, text, problem }
}

const partCases = (policy: CoveredPolicy): Case[] =>
  policy.notEvaluated.map(part => ({
    name: `${nameOf(policy)} ${part}`,
    problem: 'skipped',
    text: `${part === 'kind' ? 'policies of this kind are' : `${part} is`} not evaluated`,
  }))

function testCase({ policy, rule, resource, expected, actual, status, message }: TestRow): Case {
  const problem = status === 'ok' ? undefined : status === 'failed' ? 'failure' : 'error'
  return { name: `${policy} ${rule} ${resource}`, problem, text: `expected ${expected}, got ${actual} ${message}` }
}

function totals(cases: readonly Case[]): string {
  const of = (problem: Case['problem']) => cases.filter(one => one.problem === problem).length
  return `tests="${cases.length}" failures="${of('failure')}" errors="${of('error')}" skipped="${of('skipped')}"`
}

function caseLine(suite: string, { name, problem, text }: Case): string {
  const start = `    <testcase classname="${xmlText(suite)}" name="${xmlText(name)}"`
  if (!problem) return `${start}/>`
  return `${start}><${problem} message="${xmlText(text)}"/></testcase>`
}
