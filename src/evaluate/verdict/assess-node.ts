import { BailiwickError } from '../../errors.ts'
import { hashOf, withoutPositions } from '../../facts/fingerprint.ts'
import { kindOfId } from '../../facts/kind-of.ts'
import type { Subject, TenantSubject } from '../../facts/subject.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { WANTED } from '../../fleet/model/unread.ts'
import { embeddedIn } from '../../kube/capabilities/embedded-objects.ts'
import { originAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { stablePath } from '../../kube/pointer.ts'
import { asMessage } from '../../message/said.ts'
import type { Origin } from '../../origin.ts'
import type { Finding, NodeFailure } from '../../rules/model/finding.ts'
import { overLimit } from '../../rules/model/over-limit.ts'
import type { FindingLevel, Rule, RuleContext, Violation } from '../../rules/model/rule.ts'
import { applyingNode, within } from '../../rules/namespaces/support/embedded-subject.ts'
import type { RuleSet } from '../../rules/rule-set.ts'
import { isNotVisible, type LeftOut, leftOutOf } from '../applied/left-out.ts'
import { placeOf } from '../applied/place-of.ts'
import { emptyFound, listed, type RuleResults } from './finding-limits.ts'
import { failureOf, findingOf } from './finding-of.ts'
import { levelOf } from './level-of.ts'

/** What the rules say about one node, or one cluster or repository; every state is `new` until it is compared. */
export interface Assessed {
  readonly findings: Finding[]
  readonly failures: NodeFailure[]
}

/** Asks every rule about a node and what it renders. Pure: the same node and the same answers give the same. */
export function assessNode(rules: RuleSet, node: FleetNode, context: RuleContext): Assessed {
  const results = emptyFound('part')
  for (const one of leftOutOf(node)) refusal(rules, node, one, context, results)
  if (node.source.opaque === WANTED) results.failures.add(unread(node))
  for (const object of node.objects) {
    assessObject(rules, node, object, context, results)
    assessEmbedded(rules, node, object, context, results)
  }
  for (const rule of rules.ofNodes) {
    const where = { node, origin: node.kustomization.root.origin, content: node.digest }
    take(rule, () => rule.checkNode!(node, context), context, results, where)
  }
  return listed(results)
}

function assessObject(
  rules: RuleSet,
  node: FleetNode,
  object: KubeObject,
  context: RuleContext,
  results: RuleResults,
): void {
  const id = idOf(object)
  const kind = kindOfId(id)
  const asked = rules.ofKind(kind, node.tenant !== undefined)
  if (asked.length === 0) return
  const subject: Subject = { object, id, kind, node }
  const once = oncePerField(context)
  for (const rule of asked) {
    const check = () =>
      rule.checkObject ? rule.checkObject(subject, context) : rule.checkTenantObject!(subject as TenantSubject, context)
    take(rule, () => once(rule, check()), context, results, { node, origin: object.root.origin, content: node.digest })
  }
}

/** Leaves out what a rule that gives way finds at a field whose form another rule refused, which counts as much. */
function oncePerField({ config }: RuleContext) {
  const refused = new Map<string, FindingLevel>()
  return function* once(rule: Rule, violations: Iterable<Violation>): Iterable<Violation> {
    for (const violation of violations) {
      const level = levelOf(rule, violation, config)?.level
      // of what type an object is, its apiVersion and its kind state together
      const field = JSON.stringify(violation.path[0] === 'apiVersion' ? ['kind'] : violation.path)
      const other = refused.get(field)
      if (rule.givesWay && other !== undefined && (other !== 'warning' || level === 'warning')) continue
      if (violation.isMalformed && level !== undefined) refused.set(field, level)
      yield violation
    }
  }
}

/** Rules about objects that the platform writes for a tenant, where these hold others. */
const OF_PLATFORM = new Set(['sa-required', 'sa-foreign'])
/** Rules that speak about the object as a whole, or about names and values as they are written. */
const OF_HOLDER = new Set(['embedded-content'])
const AS_WRITTEN = new Set(['invalid-object', 'schema-mismatch', 'unicode-confusable'])

/** What controllers make of an object is asked about like any other, under the identity that applies it. */
function assessEmbedded(
  rules: RuleSet,
  node: FleetNode,
  holder: KubeObject,
  context: RuleContext,
  results: RuleResults,
): void {
  const { objects } = embeddedIn(holder)
  if (objects.length === 0 || context.index.actsFor(node, holder) === undefined) return
  for (const embedded of objects) {
    const { object, place, isTemplate } = embedded
    const id = idOf(object)
    const { index } = context
    if (place.ownScopeRule && index.scopeOf(node.cluster, id.apiVersion, id.kind) !== 'Namespaced') continue
    const subject: Subject = { object, id, kind: kindOfId(id), node: applyingNode(index, node, embedded) }
    const once = oncePerField(context)
    for (const rule of rules.ofKind(subject.kind, node.tenant !== undefined)) {
      if (OF_HOLDER.has(rule.id) || place.except?.includes(rule.id)) continue
      if (isTemplate && AS_WRITTEN.has(rule.id)) continue
      if (node.tenant === undefined && !OF_PLATFORM.has(rule.id)) continue
      const violations = () =>
        rule.checkObject
          ? rule.checkObject(subject, context)
          : rule.checkTenantObject!(subject as TenantSubject, context)
      take(rule, () => within(embedded, once(rule, violations())), context, results, {
        node,
        origin: holder.root.origin,
        content: node.digest,
      })
    }
  }
}

/** What a check is about, for what is too much to look at there. */
export interface CheckedPlace {
  readonly node: FleetNode
  readonly origin: Origin
  /** The id of all that is there: where that is another one, what was not looked at may be, too. */
  readonly content: string
}

/** Adds what a check found to what was said. What it throws as `render-limits` is an evaluation error of that place. */
export function take(
  rule: Rule,
  check: () => Iterable<Violation>,
  context: RuleContext,
  results: RuleResults,
  place?: CheckedPlace | ((origin: Origin | undefined) => CheckedPlace | undefined),
): void {
  const placeOf = (origin: Origin | undefined) => (typeof place === 'function' ? place(origin) : place)
  try {
    for (const violation of check()) {
      const content = violation.code === 'render-limits' ? placeOf(violation.origin)?.content : undefined
      add(rule, violation, context, results, content)
    }
  } catch (error) {
    if (!(error instanceof BailiwickError) || error.code !== 'render-limits') throw error
    const where = placeOf(error.origin)
    if (!where) throw error
    const fix = error.saidFix ?? error.fix ?? rule.docs
    add(
      rule,
      overLimit(where.node, error.said ?? error.message, fix, error.origin ?? where.origin),
      context,
      results,
      where.content,
    )
  }
}

function add(rule: Rule, violation: Violation, context: RuleContext, results: RuleResults, content?: string): void {
  const weight = levelOf(rule, violation, context.config)
  if (weight === undefined) return
  if (weight.level === 'error') {
    const { message, fix } = violation
    const origin = violation.origin ?? originAt(violation.object.root, violation.path)
    const cause = { code: violation.code ?? rule.id, message, fix, about: aboutOf(violation), hides: content ?? '' }
    results.failures.add(failureOf(violation.node, cause, origin))
  } else results.findings.add(findingOf(rule, weight, violation, context.index))
}

/** The object and field of a result, whatever node applies it. */
function aboutOf({ object, path, value }: Violation): string[] {
  const { apiVersion, kind, namespace, name } = idOf(object)
  return [groupOf(apiVersion), kind, namespace, name, stablePath(object.root, path), withoutPositions(value)]
}

/** What the renderer refuses by a rule is a finding of that rule; anything else is an error of the node. */
function refusal(rules: RuleSet, node: FleetNode, part: LeftOut, context: RuleContext, results: RuleResults): void {
  const { error, hides, isFatal } = part
  const rule = isForbidden(node, part, context) ? rules.named(error.rule!) : undefined
  const violation: Violation | undefined = rule && {
    node,
    object: node.kustomization,
    path: ['spec', 'path'],
    ...(error.origin ? { origin: error.origin } : {}),
    value: withoutPositions(error.identity ?? error.message),
    message: asMessage(error.said ?? error.message),
    fix: asMessage(error.saidFix ?? error.fix ?? rule.docs),
  }
  const weight = rule && violation && levelOf(rule, violation, context.config)
  const { now: applied } = placeOf(node, false)
  const place = applied === undefined ? {} : { appliedAs: hashOf([applied]) }
  // a rule that is off does not make the node known: then it is what cannot be rendered
  if (rule && violation && weight && weight.level !== 'error') {
    results.findings.add({ ...findingOf(rule, weight, violation, context.index), hides, ...place })
  } else if (!isNotVisible(node, part, context.index.cluster(node.cluster)?.lockdown)) {
    const origin = error.origin ?? node.kustomization.root.origin
    const what = weight
      ? { code: rule!.id, fix: violation!.fix }
      : { code: error.code, fix: error.saidFix ?? error.fix ?? 'Correct the file.' }
    // what the platform applies anew passes with an approval
    const where = node.tenant === undefined ? {} : place
    const message = error.said ?? error.message
    const cause = { ...what, message, identity: error.identity, hides, ...where, blocksApply: isFatal }
    results.failures.add(failureOf(node, cause, origin))
  }
}

/** For the platform a remote base is forbidden only where Flux refuses it too, or the fleet's file says how much it counts. */
function isForbidden(node: FleetNode, { error }: LeftOut, { index, config }: RuleContext): boolean {
  const { rule } = error
  if (rule === undefined) return false
  const locked = index.cluster(node.cluster)?.lockdown.noRemoteBases === true
  return node.tenant !== undefined || rule !== 'kustomize-remote-base' || locked || config.severities.has(rule)
}

function unread(node: FleetNode): NodeFailure {
  const origin = originAt(node.kustomization.root, ['spec', 'sourceRef'])
  const what = {
    code: 'source-unreadable',
    message: 'spec.sourceRef: the source has not been read yet',
    fix: 'Evaluate again after the source was read.',
  }
  return failureOf(node, what, origin)
}
