import { visible } from '../../message/visible.ts'
import type { Finding, NodeFailure, Verdict } from '../../rules/model/finding.ts'
import { type FailureGroup, groupFailures } from '../text/group-failures.ts'
import { isNew, stateText } from '../text/headline.ts'
import { placeOf } from '../text/place.ts'
import { type Elsewhere, elsewhereText, NOTHING_ELSEWHERE } from './elsewhere.ts'
import type { FormatContext } from './format-context.ts'
import { xmlText } from './xml-text.ts'

/**
 * The verdict as JUnit XML: a suite per cluster, a test case per tenant and one for the platform. What is new and blocks
 * are failures and errors; what stands, and warnings, are only told. Every value is made visible and escaped.
 */
export function junitText(verdict: Verdict, { here, elsewhere = NOTHING_ELSEWHERE }: FormatContext): string {
  const clusters = [...new Set([...verdict.clusters.map(one => one.name), ...concerned(verdict)])]
  const suites = clusters.map(cluster => suiteOf(verdict, cluster, here))
  const sum = (pick: (suite: Suite) => number) => suites.reduce((total, suite) => total + pick(suite), 0)
  const others = elsewhereSuite(elsewhere)
  const more = (verdict.requiredApprovals.length > 0 ? 1 : 0) + others.tests
  const totals = `tests="${sum(one => one.tests) + more}" failures="${sum(one => one.failures) + others.failures}" errors="${sum(one => one.errors) + others.errors}"`
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="bailiwick" ${totals}>`,
    ...suites.flatMap(suite => suite.lines),
    ...approvalLines(verdict),
    ...others.lines,
    '</testsuites>',
  ]
  return `${lines.join('\n')}\n`
}

/** An approval is no test that failed: a suite that passes, and says what is missing. */
function approvalLines({ requiredApprovals: all }: Verdict): string[] {
  if (all.length === 0) return []
  const lines = all.map(({ rule, path, message }) => `${visible(path)}: [${rule}] ${visible(message, 2000)}`)
  return [
    '  <testsuite name="required approvals" tests="1" failures="0" errors="0">',
    '    <testcase classname="required approvals" name="of a fleet admin">',
    `      <system-out>${xmlText(lines.join('\n'), 100_000)}</system-out>`,
    '    </testcase>',
    '  </testsuite>',
  ]
}

/** A test case that says as much as the result: what is counted only fails it where that decides. */
function elsewhereSuite(elsewhere: Elsewhere): Suite {
  const what = elsewhereText(elsewhere)
  if (what === undefined) return { lines: [], tests: 0, failures: 0, errors: 0 }
  const [failures, errors] = [elsewhere.violations > 0 ? 1 : 0, elsewhere.errors > 0 ? 1 : 0]
  const inside = [
    ...(errors > 0 ? [`      <error type="not-listed" message="${xmlText(what)}"/>`] : []),
    ...(failures > 0 ? [`      <failure type="not-listed" message="${xmlText(what)}"/>`] : []),
    ...(errors + failures > 0 ? [] : [`      <system-out>${xmlText(what)}</system-out>`]),
  ]
  const lines = [
    `  <testsuite name="other repositories" tests="1" failures="${failures}" errors="${errors}">`,
    '    <testcase classname="other repositories" name="of the fleet">',
    ...inside,
    '    </testcase>',
    '  </testsuite>',
  ]
  return { lines, tests: 1, failures, errors }
}

interface Suite {
  readonly lines: readonly string[]
  readonly tests: number
  readonly failures: number
  readonly errors: number
}

function suiteOf(verdict: Verdict, cluster: string, here: string): Suite {
  const on = <T extends { readonly cluster: string }>(items: readonly T[]) =>
    items.filter(item => item.cluster === cluster)
  const [violations, warnings, errors] = [on(verdict.violations), on(verdict.warnings), on(verdict.errors)]
  const notEvaluated = on(verdict.notEvaluated)
  const named = verdict.tenants.filter(tenant => tenant.clusters.includes(cluster)).map(tenant => tenant.name)
  const tenants = [
    ...new Set(['', ...named, ...[...violations, ...warnings, ...errors, ...notEvaluated].map(item => item.tenant)]),
  ]
  const cases = tenants.flatMap(tenant => {
    const of = <T extends { readonly tenant: string }>(items: readonly T[]) =>
      items.filter(item => item.tenant === tenant)
    const said = {
      violations: of(violations),
      warnings: of(warnings),
      errors: groupFailures(of(errors)),
      notEvaluated: of(notEvaluated),
    }
    return caseOf(cluster, tenant, said, here)
  })
  const broken = [...Map.groupBy(errors.filter(isNew), one => one.tenant).values()].reduce(
    (sum, all) => sum + groupFailures(all).length,
    0,
  )
  const failures = violations.filter(isNew).length
  const counts = `tests="${tenants.length}" failures="${failures}" errors="${broken}"`
  const lines = [`  <testsuite name="${xmlText(cluster || 'fleet')}" ${counts}>`, ...cases, '  </testsuite>']
  return { lines, tests: tenants.length, failures, errors: broken }
}

interface Said {
  readonly violations: readonly Finding[]
  readonly warnings: readonly Finding[]
  readonly errors: readonly FailureGroup[]
  readonly notEvaluated: readonly Finding[]
}

function caseOf(
  cluster: string,
  tenant: string,
  { violations, warnings, errors, notEvaluated }: Said,
  here: string,
): string[] {
  const told = [
    ...violations.filter(one => !isNew(one)).map(one => `${stateText(one.state)} ${lineOf(one.rule, one, here)}`),
    ...warnings.map(one => `warning ${lineOf(one.rule, one, here)}`),
    ...errors
      .filter(({ failure }) => !isNew(failure))
      .map(
        ({ failure, nodes }) =>
          `existing error ${lineOf(failure.code, failure, here)} (${visible(nodes.join(', '), 2000)})`,
      ),
    ...notEvaluated.map(one => `not evaluated ${lineOf(one.rule, one, here)}`),
  ]
  const inside = [
    ...errors
      .filter(({ failure }) => isNew(failure))
      .map(({ failure, nodes }) => outcome('error', failure.code, failure, here, nodes.join(', '))),
    ...violations.filter(isNew).map(one => outcome('failure', one.rule, one, here)),
    ...(told.length > 0 ? [`      <system-out>${xmlText(told.join('\n'), 100_000)}</system-out>`] : []),
  ]
  const name = `    <testcase classname="${xmlText(cluster || 'fleet')}" name="${xmlText(tenant || 'the platform')}"`
  return inside.length === 0 ? [`${name}/>`] : [`${name}>`, ...inside, '    </testcase>']
}

function outcome(element: string, id: string, item: Finding | NodeFailure, here: string, nodes = ''): string {
  const message = xmlText(`${visible(item.message, 2000)}`, 4000)
  const body = xmlText(
    `${lineOf(id, item, here)}\n${visible(item.fix, 1000)}${nodes === '' ? '' : `\nKustomizations: ${visible(nodes, 2000)}`}`,
    8000,
  )
  return `      <${element} type="${xmlText(id)}" message="${message}">${body}</${element}>`
}

function lineOf(id: string, item: Finding | NodeFailure, here: string): string {
  const place = placeOf(item.origin, here)
  return `${place === '' ? '' : `${visible(place)}: `}[${id}] ${visible(item.message, 2000)}`
}

const concerned = ({ violations, warnings, errors, notEvaluated }: Verdict) =>
  [...violations, ...warnings, ...errors, ...notEvaluated].map(item => item.cluster)
