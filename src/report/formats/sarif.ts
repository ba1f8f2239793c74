import { ended } from '../../base/message.ts'
import { visible } from '../../base/visible.ts'
import { display } from '../../kube/object.ts'
import type { Finding, RequiredApproval, Severity, Verdict } from '../../rules/model/finding.ts'
import type { RuleText } from '../../rules/model/rule.ts'
import { summaryOf } from '../../verdict/headline.ts'
import { type FailureGroup, type FindingGroup, groupFailures, groupFindings } from '../../verdict/summary.ts'
import { count, fixText } from '../text/findings.ts'
import { placeOf } from '../text/place.ts'
import { elsewhereText, type FormatContext } from './format-context.ts'

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'
/** The middle of each band of CVSS, by which code scanning sorts. */
const SECURITY: Record<Severity, string> = { critical: '9.5', high: '8.0', medium: '5.5', low: '2.0' }
const BASELINE = { new: 'new', standing: 'unchanged', waived: 'unchanged', fixed: 'absent' } as const
/** GitHub refuses a file with more results, and shows the 5,000 most severe. Source: "SARIF support for code scanning" of GitHub Docs. */
const MAX_RESULTS = 25_000
const MAX_OBJECTS = 100

/**
 * The verdict as a SARIF 2.1.0 log: violations are results of level error, warnings of level warning, what could not be
 * decided is a result too. A cause is one result, with all its objects and clusters. GitHub takes every file for one of the repository
 * at hand, so what is written in another repository is a notification of the run, which names that repository.
 */
export function sarifText(verdict: Verdict, context: FormatContext): string {
  const { errors, notEvaluated, requiredApprovals } = verdict
  const { elsewhere, here } = context
  const findings = [...verdict.violations, ...verdict.warnings]
  const named = [...findings, ...notEvaluated, ...requiredApprovals].map(one => one.rule)
  const ids = [...new Set([...named, ...errors.map(one => one.code)])].sort()
  const known = new Map(context.rules.map(rule => [rule.id, rule]))
  const all = [
    ...groupFindings(findings).map(group => findingResult(group, ids, here)),
    ...groupFailures(errors).map(group => failureResult(group, ids, here)),
    ...groupFindings(notEvaluated).map(group => ({ ...findingResult(group, ids, here), level: 'note' as const })),
    ...requiredApprovals.map(one => approvalResult(one, ids)),
  ]
  const { here: ours = [], elsewhere: others = [] } = Object.groupBy(all, one => (one.isHere ? 'here' : 'elsewhere'))
  const results = ours.map(({ isHere: _isHere, place: _place, ...result }) => result)
  const left = results.length - MAX_RESULTS
  const notifications = [...others.slice(0, MAX_RESULTS).map(notification), ...(left > 0 ? [leftOut(left)] : [])]
  const run = {
    tool: {
      driver: {
        name: 'bailiwick',
        semanticVersion: context.version,
        rules: ids.map(id => descriptor(id, known.get(id))),
      },
    },
    invocations: [
      {
        executionSuccessful: verdict.result !== 'error',
        ...(notifications.length > 0 ? { toolExecutionNotifications: notifications } : {}),
      },
    ],
    results: results.slice(0, MAX_RESULTS),
    columnKind: 'utf16CodeUnits',
    properties: {
      result: verdict.result,
      summary: visible(elsewhere ? summaryOf(verdict, elsewhere) : verdict.summary, 1000),
      ...(elsewhere && elsewhereText(elsewhere) !== undefined ? { elsewhere } : {}),
    },
  }
  return `${JSON.stringify({ $schema: SCHEMA, version: '2.1.0', runs: [run] }, null, 2)}\n`
}

/** A result before it is known where it goes. */
interface Result {
  readonly ruleId: string
  readonly ruleIndex: number
  readonly level: 'error' | 'warning' | 'note' | 'none'
  readonly message: { readonly text: string }
  readonly place: string
  readonly properties: object
}

/** For findings without a place in this repository: GitHub requires one for each result. */
function notification({ ruleId, ruleIndex, level, message, place, properties }: Result) {
  return {
    level,
    associatedRule: { id: ruleId, index: ruleIndex },
    message: { text: `${place}: ${message.text}` },
    properties,
  }
}

const leftOut = (left: number) => ({
  level: 'error' as const,
  message: { text: `${left} results are omitted, because GitHub accepts at most 25,000. \`-o json\` lists all.` },
})

function descriptor(id: string, rule: RuleText | undefined) {
  if (!rule) return { id, shortDescription: { text: `could not be evaluated: ${id}` } }
  return {
    id,
    shortDescription: { text: rule.title },
    fullDescription: { text: rule.why },
    help: { text: rule.docs },
    defaultConfiguration: { level: rule.level === 'warning' ? 'warning' : 'error' },
    properties: { 'security-severity': SECURITY[rule.severity], tags: ['security'] },
  }
}

function findingResult(group: FindingGroup, ids: readonly string[], here: string) {
  const { finding, objects, clusters, tenants, identities, followers } = group
  const { rule, state, level, cluster, tenant, identity, via } = finding
  const more = objects.length > 1 ? [`It applies to ${count(objects.length, 'object')}.`] : []
  const follows = followers.map(
    one => `${one.finding.rule} follows from this for ${count(one.objects.length, 'object')}.`,
  )
  const texts = [ended(visible(finding.message, 2000)), ...more, ...follows, visible(fixText(group, here), 1000)]
  const reached = objects.slice(0, MAX_OBJECTS)
  return {
    ...placed(finding.origin, here),
    ruleId: rule,
    ruleIndex: ids.indexOf(rule),
    level: level === 'warning' ? ('warning' as const) : ('error' as const),
    baselineState: BASELINE[state],
    message: { text: texts.join(' ') },
    locations: [{ ...physical(ofHead(finding)), logicalLocations: reached.map(one => logical(one.finding)) }],
    partialFingerprints: { 'bailiwick/v1': finding.fingerprint },
    ...(state === 'waived' ? { suppressions: [{ kind: 'external', status: 'accepted' }] } : {}),
    properties: {
      ...{ state, severity: finding.severity, cluster, clusters, tenant, tenants, identity, identities },
      ...{ field: finding.field, via, objects: objects.length },
    },
  }
}

function approvalResult({ rule, message, path }: RequiredApproval, ids: readonly string[]) {
  return {
    ...{ isHere: true, place: path },
    ruleId: rule,
    ruleIndex: ids.indexOf(rule),
    kind: 'review',
    level: 'none' as const,
    baselineState: 'new',
    message: { text: `Required approval of a fleet admin: ${ended(visible(message, 2000))}` },
    locations: [physical({ repository: '', file: path, line: 1, column: 1 })],
    properties: { requiredApproval: true },
  }
}

function failureResult({ failure, nodes, clusters, tenants }: FailureGroup, ids: readonly string[], here: string) {
  const { code, state, message, fix, cluster, tenant, node } = failure
  return {
    ...placed(failure.origin, here),
    ruleId: code,
    ruleIndex: ids.indexOf(code),
    level: 'error' as const,
    baselineState: BASELINE[state],
    message: {
      text: `Could not be evaluated: ${[ended(visible(message, 2000)), visible(fix, 1000)].join(' ').trimEnd()}`,
    },
    locations: [physical(failure.origin)],
    partialFingerprints: { 'bailiwick/v1': failure.fingerprint },
    properties: { state, cluster, tenant, node, nodes, clusters, tenants },
  }
}

const logical = ({ object, field }: Finding) => ({
  name: visible(object.name, 253),
  fullyQualifiedName: visible(`${display(object)}${field}`, 1000),
  kind: 'object',
})

/** Whether a place is in the repository at hand, and the place in words. */
const placed = (origin: Finding['origin'], here: string) => ({
  isHere: origin.file !== '' && (origin.repository === here || origin.repository === ''),
  place: visible(placeOf(origin, here)) || 'no file',
})

/** A line of the base is another one of the head. */
const ofHead = ({ origin, isBefore }: Finding) => (isBefore ? { ...origin, line: 1, column: 1 } : origin)

function physical(origin: Finding['origin']) {
  const uri = origin.file.toWellFormed().split('/').map(encodeURIComponent).join('/')
  return {
    physicalLocation: {
      artifactLocation: { uri },
      // GitHub code scanning requires a line, even for a finding about a whole file
      region: { startLine: Math.max(1, origin.line), startColumn: Math.max(1, origin.column) },
    },
  }
}
