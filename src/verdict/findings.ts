import { asMessage, type Message, message, plainText, sayingOf } from '../base/message.ts'
import type { Origin, Step } from '../base/origin.ts'
import { removedWarning } from '../base/removed.ts'
import { isReported, memberSettings } from '../fleet/config/declared-settings.ts'
import { causeOf, fingerprintOf, writtenBy } from '../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../fleet/facts/fleet-index.ts'
import { shown } from '../fleet/facts/shown.ts'
import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import type { ConfiguredSeverity, FleetConfig, NamedRule } from '../fleet/model/fleet-config.ts'
import { pointer } from '../kube/field-lines.ts'
import { causeAt, originAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { type Finding, type NodeFailure, SEVERITIES, type Severity } from '../rules/model/finding.ts'
import type { FindingLevel, RuleText, Violation } from '../rules/model/rule.ts'

/** Why a violation is only reported. */
const REPORTED = message` It is reported without blocking, because enforcement is "report".`

/** Maximum number of values kept of those that a field may have. */
const MAX_ALLOWED = 20

/** A violation as the verdict lists it. */
export function findingOf(rule: RuleText, weight: Weight, violation: Violation, index: FleetIndex): Finding {
  const { node, object, path } = violation
  const origin = placeOfViolation(violation)
  return {
    rule: rule.id,
    level: weight.level === 'violation' ? 'violation' : 'warning',
    ...(weight.reported ? { reported: true } : {}),
    severity: weight.severity,
    state: 'new',
    cluster: node.cluster,
    tenant: node.tenant ?? '',
    identity: node.identity.user,
    object: idOf(object),
    field: pointer(path),
    origin: place(origin),
    via: dedupe([...(origin.via ?? []), ...object.trail, ...chain(violation.renderedBy ?? node, index)]),
    ...sayingOf(
      weight.reported ? message`${asMessage(violation.message)}${REPORTED}` : violation.message,
      violation.fix,
    ),
    node: node.key,
    fingerprint: fingerprintIn(rule, violation),
    ...causeIn(rule, violation, origin),
    ...(violation.follows === undefined ? {} : { follows: violation.follows }),
    ...(violation.leads === undefined ? {} : { leads: violation.leads }),
    ...(violation.isBefore ? { isBefore: true as const } : {}),
    ...(violation.edit ? { edit: violation.edit } : {}),
    ...(violation.allowed?.length ? { allowed: violation.allowed.slice(0, MAX_ALLOWED) } : {}),
    ...(violation.clusterAnswer === undefined ? {} : { clusterAnswer: violation.clusterAnswer }),
    ...(violation.isOfNew ? { isOfNew: true as const } : {}),
    ...(violation.policy ? { policy: violation.policy } : {}),
  }
}

/** Where what it is about was written: an edit is made at the field itself, and much of a whole object or its spec is not about it. */
export function placeOfViolation({ object, path, edit, origin }: Violation): Origin {
  return origin ?? (edit === undefined && path.length > 1 ? causeAt : originAt)(object.root, path)
}

export function fingerprintIn(
  rule: RuleText,
  { node: { cluster, tenant = '' }, object, path, value }: Violation,
): string {
  return fingerprintOf({ rule: rule.id, cluster, tenant }, object, path, value)
}

function causeIn(
  rule: RuleText,
  { path, value, cause }: Violation,
  origin: Origin,
): Pick<Finding, 'cause' | 'isShared'> {
  if (cause !== undefined) return { cause, isShared: true }
  return origin.file === '' ? {} : { cause: writtenBy(rule.id, origin, path, value) }
}

/** What could not be evaluated, and by what it is recognized. */
interface Cause {
  readonly code: string
  readonly message: string | Message
  /** What identifies it, where the message does not. */
  readonly identity?: string | undefined
  readonly fix: string | Message
  /** The object and field that it is about, where it is not the place in the file alone. */
  readonly about?: readonly string[]
  /** See NodeFailure. */
  readonly hides?: string | undefined
  readonly appliedAs?: string | undefined
  readonly blocksApply?: boolean
  readonly follows?: true | undefined
}

/** What could not be evaluated of a node. */
export function failureOf(
  node: Pick<FleetNode, 'key' | 'cluster' | 'tenant'>,
  { code, message: text, identity, fix, about = [], hides, appliedAs, blocksApply, follows }: Cause,
  origin: Origin,
): NodeFailure {
  return {
    code,
    state: 'new',
    ...sayingOf(text, fix),
    origin: place(origin),
    cluster: node.cluster,
    tenant: node.tenant ?? '',
    node: node.key,
    fingerprint: causeOf({ code, message: identity ?? plainText(text) }, origin, about),
    ...(hides === undefined ? {} : { hides }),
    ...(appliedAs === undefined ? {} : { appliedAs }),
    ...(blocksApply ? { blocksApply } : {}),
    ...(follows ? { follows } : {}),
  }
}

const place = ({ repository, file, line, column }: Origin) => ({ repository, file, line, column })

/** The Kustomizations through which a node's objects come, innermost first. */
function chain(node: FleetNode, index: FleetIndex): Step[] {
  const steps: Step[] = []
  for (let here: FleetNode | undefined = node; here && steps.length < 64; here = index.node(here.parent)) {
    const { file, line } = nameOf(here.kustomization)
    steps.push({ step: 'kustomization', file, line })
  }
  return steps
}

const nameOf = (object: KubeObject) => originAt(object.root, ['metadata', 'name'])

function dedupe(steps: readonly Step[]): Step[] {
  const seen = new Set<string>()
  return steps.filter(step => {
    const key = JSON.stringify([step.step, step.file, step.line])
    return !seen.has(key) && seen.add(key)
  })
}

/** The weight of a finding. */
interface Weight {
  readonly level: FindingLevel
  readonly severity: Severity
  /** It would be a violation, but its tenant or cluster is only reported on. */
  readonly reported?: true
}

/**
 * The weight of a finding: what the rule or the finding itself sets, less in the profile `baseline` and in mode `report`,
 * and as the fleet's own file sets it for the rule; a tenant's own file can only add. Undefined: the rule is off. What
 * cannot be decided stays an error, but what a rule that is off did not look at.
 */
export function levelOf(rule: RuleText, violation: Violation, config: FleetConfig): Weight | undefined {
  const severity = violation.severity ?? rule.severity
  const level = violation.level ?? rule.level ?? 'violation'
  const isOff = config.severities.get(rule.id) === 'off'
  if (level === 'error') return isOff && violation.code !== undefined ? undefined : { level, severity }
  // of several tenants the strictest setting counts
  const tenants = memberSettings(config, violation.node.tenant)
  const isBaseline = tenants.every(one => (one?.profile ?? config.profile) === 'baseline')
  const softened = (violation.profile ?? rule.profile) === 'restricted' && isBaseline ? 'warning' : level
  const byFleet = configured(config.severities.get(rule.id), violation, { level: softened, severity })
  const weight = tenants
    .flatMap(one => one?.own?.severities.get(rule.id) ?? [])
    .reduce((most, own) => heavier(most, configured(own, violation, { level: softened, severity })), byFleet)
  if (weight?.level !== 'violation' || !isReported(config, violation.node.tenant)) return weight
  return { ...weight, level: 'warning', reported: true }
}

/** A severity makes a violation of it, except of a finding that is itself only a warning. */
function configured(
  setting: ConfiguredSeverity | undefined,
  violation: Violation,
  otherwise: Weight,
): Weight | undefined {
  if (setting === undefined) return otherwise
  if (setting === 'off') return undefined
  if (setting === 'warning') return { ...otherwise, level: 'warning' }
  return { level: violation.level ?? 'violation', severity: setting }
}

function heavier(one: Weight | undefined, other: Weight | undefined): Weight | undefined {
  if (!one || !other) return one ?? other
  return isHeavier(other, one) ? other : one
}

/** Whether something counts more than something else: a violation more than a warning, then by severity. */
export function isHeavier(one: Omit<Weight, 'reported'>, other: Omit<Weight, 'reported'>): boolean {
  if (one.level !== other.level) return one.level === 'violation'
  return SEVERITIES.indexOf(one.severity) < SEVERITIES.indexOf(other.severity)
}

/**
 * Rules that the fleet's file or a tenant's own names and that are none, and those that a tenant's own file would make
 * count less: errors of the nodes that the file is about. A misspelt rule would otherwise count as before, unnoticed.
 */
export function unknownRules(fleet: Fleet, rules: readonly RuleText[]): NodeFailure[] {
  const byId = new Map(rules.map(rule => [rule.id, rule]))
  const wrong = fleet.proposed.namedRules.filter(({ id }) => !byId.has(id) && !isRemoved(id))
  const roots = wrong.length === 0 ? [] : fleet.nodes.filter(node => node.parent === undefined)
  const failures = wrong.flatMap(named => roots.map(root => failed(root, named, unknown(named))))
  for (const [tenant, { own }] of fleet.config.tenants) {
    for (const named of own?.namedRules ?? []) {
      const rule = byId.get(named.id)
      const what = rule ? loosened(rule, named, fleet) : isRemoved(named.id) ? undefined : unknown(named)
      if (what === undefined) continue
      const readers = fleet.nodes.filter(node => node.tenant === tenant && node.source.url === named.origin.repository)
      const keys = new Set(readers.map(node => node.key))
      failures.push(...readers.filter(node => !keys.has(node.parent ?? '')).map(node => failed(node, named, what)))
    }
  }
  return failures
}

/** One of an earlier release: `config-unused` warns of it. */
const isRemoved = (id: string) => removedWarning(`rule ${id}`) !== undefined

const unknown = ({ id, key }: NamedRule) => `${key}: ${shown(id)} is not a rule`

function loosened(rule: RuleText, { key, severity }: NamedRule, { config }: Fleet): string | undefined {
  const setting = config.severities.get(rule.id)
  const holds = setting === undefined || setting === 'warning' || setting === 'off' ? rule.severity : setting
  const least = { level: 'violation' as const, severity: holds }
  const isLess = severity !== undefined && severity !== 'warning' && severity !== 'off'
  if (!isLess || !isHeavier(least, { level: 'violation', severity })) return undefined
  return `${key}: ${severity} is lower than ${holds}, the level of the fleet. Allowed: that level or a higher one`
}

function failed(node: FleetNode, { origin }: NamedRule, message: string): NodeFailure {
  return failureOf(
    node,
    {
      code: 'config',
      message: `${origin.file}: ${message}`,
      fix: 'Use a rule of docs/rules.md with an allowed severity, or remove the entry.',
      hides: '',
    },
    origin,
  )
}
