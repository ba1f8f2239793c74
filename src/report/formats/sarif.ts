import { groupFindings } from '../../evaluate/verdict/group-findings.ts'
import { summaryOf } from '../../evaluate/verdict/summary.ts'
import { display } from '../../kube/object.ts'
import { visible } from '../../message/visible.ts'
import type { Finding, RequiredApproval, Severity, Verdict } from '../../rules/model/finding.ts'
import type { RuleText } from '../../rules/model/rule.ts'
import { fixText } from '../text/fix-text.ts'
import { type FailureGroup, groupFailures } from '../text/group-failures.ts'
import { elsewhereText } from './elsewhere.ts'
import type { FormatContext } from './format-context.ts'

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'
/** The middle of each band of CVSS, by which code scanning sorts. */
const SECURITY: Record<Severity, string> = { critical: '9.5', high: '8.0', medium: '5.5', low: '2.0' }
const BASELINE = { new: 'new', standing: 'unchanged', waived: 'unchanged', fixed: 'absent' } as const
const HERE = 'HERE'

/**
 * The verdict as a SARIF 2.1.0 log: violations are results of level error, warnings of level warning, what could not be
 * decided is a result too, so that no viewer loses it. Files of other repositories stand below their own base.
 */
export function sarifText(verdict: Verdict, context: FormatContext): string {
  const findings = [...verdict.violations, ...verdict.warnings]
  const { errors, notEvaluated, requiredApprovals } = verdict
  const { elsewhere } = context
  const bases = basesOf([...findings, ...errors, ...notEvaluated], context.here)
  const named = [...findings, ...notEvaluated, ...requiredApprovals].map(one => one.rule)
  const ids = [...new Set([...named, ...errors.map(one => one.code)])].sort()
  const known = new Map(context.rules.map(rule => [rule.id, rule]))
  const run = {
    tool: {
      driver: {
        name: 'bailiwick',
        semanticVersion: context.version,
        rules: ids.map(id => descriptor(id, known.get(id))),
      },
    },
    invocations: [{ executionSuccessful: verdict.result !== 'error' }],
    ...(bases.size > 0 ? { originalUriBaseIds: uriBases(bases) } : {}),
    results: [
      ...onceForAllClusters(findings).map(same => findingResult(same, ids, bases, context.here)),
      ...groupFailures(verdict.errors).map(group => failureResult(group, ids, bases)),
      ...groupFindings(verdict.notEvaluated).map(({ finding }) =>
        notEvaluatedResult(finding, ids, bases, context.here),
      ),
      ...verdict.requiredApprovals.map(one => approvalResult(one, ids)),
    ],
    columnKind: 'utf16CodeUnits',
    properties: {
      result: verdict.result,
      summary: visible(elsewhere ? summaryOf(verdict, elsewhere) : verdict.summary, 1000),
      ...(elsewhere && elsewhereText(elsewhere) !== undefined ? { elsewhere } : {}),
    },
  }
  return `${JSON.stringify({ $schema: SCHEMA, version: '2.1.0', runs: [run] }, null, 2)}\n`
}

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

type SameFindings = readonly [Finding, ...Finding[]]

/** A finding that several clusters have is one result: a viewer would show its line once for each. */
function onceForAllClusters(findings: readonly Finding[]): SameFindings[] {
  const same = Map.groupBy(findings, ({ rule, level, state, origin, object, field, message, fix }) =>
    JSON.stringify([
      rule,
      level,
      state,
      origin.repository,
      origin.file,
      origin.line,
      origin.column,
      object,
      field,
      message,
      fix,
    ]),
  )
  return [...same.values()].map(([first, ...others]) => [first!, ...others])
}

function findingResult(
  [finding, ...others]: SameFindings,
  ids: readonly string[],
  bases: ReadonlyMap<string, string>,
  here: string,
) {
  const group = { finding, objects: [{ object: finding.object, clusters: [], finding }] }
  const clusters = [...new Set([finding, ...others].map(one => one.cluster))].sort()
  const { rule, state, level, message, cluster, tenant, identity, via } = finding
  return {
    ruleId: rule,
    ruleIndex: ids.indexOf(rule),
    level: level === 'warning' ? 'warning' : 'error',
    baselineState: BASELINE[state],
    message: { text: `${visible(message, 2000)} ${visible(fixText(group, here), 1000)}` },
    locations: [{ ...physical(finding.origin, bases), logicalLocations: [logical(finding)] }],
    partialFingerprints: { 'bailiwick/v1': finding.fingerprint },
    ...(state === 'waived' ? { suppressions: [{ kind: 'external', status: 'accepted' }] } : {}),
    properties: { state, severity: finding.severity, cluster, clusters, tenant, identity, field: finding.field, via },
  }
}

/** Said, and never decisive. */
function notEvaluatedResult(
  finding: Finding,
  ids: readonly string[],
  bases: ReadonlyMap<string, string>,
  here: string,
) {
  return { ...findingResult([finding], ids, bases, here), level: 'note' }
}

function approvalResult({ rule, message, path }: RequiredApproval, ids: readonly string[]) {
  return {
    ruleId: rule,
    ruleIndex: ids.indexOf(rule),
    kind: 'review',
    level: 'none',
    baselineState: 'new',
    message: { text: `Required approval of a fleet admin: ${visible(message, 2000)}` },
    locations: [physical({ repository: '', file: path, line: 1, column: 1 }, new Map())],
    properties: { requiredApproval: true },
  }
}

function failureResult(
  { failure, nodes, clusters, tenants }: FailureGroup,
  ids: readonly string[],
  bases: ReadonlyMap<string, string>,
) {
  const { code, state, message, fix, cluster, tenant, node } = failure
  return {
    ruleId: code,
    ruleIndex: ids.indexOf(code),
    level: 'error',
    baselineState: BASELINE[state],
    message: { text: `Could not be evaluated: ${visible(message, 2000)} ${visible(fix, 1000)}` },
    locations: [physical(failure.origin, bases)],
    partialFingerprints: { 'bailiwick/v1': failure.fingerprint },
    properties: { state, cluster, tenant, node, nodes, clusters, tenants },
  }
}

const logical = ({ object, field }: Finding) => ({
  name: visible(object.name, 253),
  fullyQualifiedName: visible(`${display(object)}${field}`, 1000),
  kind: 'object',
})

function physical(origin: Finding['origin'], bases: ReadonlyMap<string, string>) {
  const base = bases.get(origin.repository)
  const uri = origin.file.toWellFormed().split('/').map(encodeURIComponent).join('/')
  return {
    physicalLocation: {
      artifactLocation: { uri, ...(base === undefined ? {} : { uriBaseId: base }) },
      ...(origin.line > 0 ? { region: { startLine: origin.line, startColumn: Math.max(1, origin.column) } } : {}),
    },
  }
}

/** A base for each repository that is not the one at hand, whose files are relative to nothing. */
function basesOf(items: readonly { origin: Finding['origin'] }[], here: string): Map<string, string> {
  const others = [...new Set(items.map(item => item.origin.repository))].filter(url => url !== '' && url !== here)
  return new Map(others.sort().map((url, index) => [url, `${HERE}-${index + 2}`]))
}

const uriBases = (bases: ReadonlyMap<string, string>) =>
  Object.fromEntries([...bases].map(([url, id]) => [id, { uri: `${encodeURI(url.toWellFormed())}/` }]))
