import { BailiwickError } from '../base/errors.ts'
import { asMessage } from '../base/message.ts'
import type { Origin } from '../base/origin.ts'
import { work } from '../base/work.ts'
import { hashOf, withoutPositions } from '../fleet/facts/fingerprint.ts'
import { FleetIndex } from '../fleet/facts/fleet-index.ts'
import { EvaluatedRepositories, type EvaluatedRepository, followed } from '../fleet/facts/repositories.ts'
import { type Cluster, type Fleet, type FleetNode, WANTED } from '../fleet/model/fleet.ts'
import { embeddedIn } from '../kube/capabilities/embedded-objects.ts'
import { stablePath } from '../kube/field-lines.ts'
import { originAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import { readersOf } from '../rules/git/rendered-tree.ts'
import type { Finding, NodeFailure } from '../rules/model/finding.ts'
import {
  type FindingLevel,
  overLimit,
  type Rule,
  type RuleContext,
  RuleSet,
  Subject,
  type TenantSubject,
  type Violation,
} from '../rules/model/rule.ts'
import { applyingNode, within } from '../rules/namespaces/embedded-objects.ts'
import { rules } from '../rules/registry.ts'
import { isBuilt, isNotVisible, type LeftOut, leftOutOf } from './evaluated.ts'
import { failureOf, findingOf, fingerprintIn, levelOf, placeOfViolation, unknownRules } from './findings.ts'
import { placeOf } from './hidden-content.ts'

/** Findings of the rules about a fleet by itself: every state is `new` until it is compared. */
export interface Assessment {
  readonly findings: readonly Finding[]
  readonly failures: readonly NodeFailure[]
  /** Of a node of which nothing could be built: what it read. A change of it may hide anything behind the same finding. */
  readonly inputs: ReadonlyMap<string, string>
}

/** How a fleet is assessed; an implementation with a cache returns the same as `assess`. */
export type Assess = (fleet: Fleet, before?: Fleet) => Assessment

/** Asks every rule that is switched on; `before` is for what only a change can break. Pure and deterministic. */
export function assess(fleet: Fleet, before?: Fleet): Assessment {
  const context: RuleContext = {
    index: new FleetIndex(fleet),
    config: fleet.config,
    ...(before ? { before: new FleetIndex(before) } : {}),
  }
  const set = new RuleSet(rules, fleet.disabledRules)
  const parts = partsOf(set, fleet, before)
  return assessmentOf(
    fleet,
    [...parts].map(part => part.assess(context)),
  )
}

/** Merges the findings about all parts of a fleet. */
export function assessmentOf(fleet: Fleet, parts: Iterable<Assessed>): Assessment {
  const results = emptyFound('tenant')
  for (const one of unknownRules(fleet, rules)) results.failures.add(one)
  for (const { findings, failures } of parts) {
    for (const one of findings) results.findings.add(one)
    for (const one of failures) results.failures.add(one)
  }
  const inputs = new Map<string, string>()
  for (const node of fleet.nodes) if (node.error && !isBuilt(node)) inputs.set(node.key, node.inputs ?? '')
  const all = listed(results)
  return { findings: unique(all.findings), failures: unique(all.failures), inputs }
}

function unique<T extends Finding | NodeFailure>(items: readonly T[]): T[] {
  const keyOf = ({ node, fingerprint, hides }: T) => `${node} ${fingerprint} ${hides ?? ''}`
  return [...new Map([...items].reverse().map(item => [keyOf(item), item])).values()].reverse()
}

/** Something that rules are asked about: the same `about` and the same answers of the fleet give the same. */
export interface AssessablePart {
  readonly id: string
  readonly about: readonly unknown[]
  /** The key of the node whose it is: of a repository the first one that reads it. */
  readonly node?: string | undefined
  assess(context: RuleContext, keep?: KeepFound): Assessed
}

/** What is found in some objects of a node, called by `group`: what `ask` gives for each, or what was found there before. */
export type KeepFound = (group: string, objects: readonly KubeObject[], ask: () => Assessed[]) => readonly Assessed[]

/** A node and what it renders. */
export function nodePart(rules: RuleSet, node: FleetNode): AssessablePart {
  const assess: AssessablePart['assess'] = (context, keep) => assessNode(rules, node, context, keep)
  return { id: `node ${node.key}`, about: [node], node: node.key, assess }
}

/** A node that `before` has and the fleet has not. */
export function removedPart(rules: RuleSet, node: FleetNode): AssessablePart {
  const place = { node, origin: node.kustomization.root.origin, content: node.digest }
  const assess = assessBy(rules.ofRemoved, (rule, context) => rule.checkRemoved!(node, context), place)
  return { id: `removed ${node.key}`, about: [node], assess }
}

export function clusterPart(rules: RuleSet, cluster: Cluster): AssessablePart {
  const assess = assessBy(rules.ofClusters, (rule, context) => rule.checkCluster!(cluster, context))
  return { id: `cluster ${cluster.name}`, about: [cluster], assess }
}

export function repositoryPart(rules: RuleSet, repository: EvaluatedRepository): AssessablePart {
  const { url, ref, tree, nodes, isFleet, before: earlier, brokenSeals = [] } = repository
  const place = (origin: Origin | undefined): CheckedPlace | undefined => {
    const node = readersOf(nodes, origin?.file ?? '')[0]
    const place = { repository: url, file: origin?.file ?? '', line: 1, column: 1 }
    return node && { node, origin: place, content: tree.id }
  }
  const assess = assessBy(rules.ofRepositories, (rule, context) => rule.checkRepository!(repository, context), place)
  const about = [
    url,
    tree.id,
    earlier?.id,
    isFleet,
    brokenSeals.map(({ file, why }) => `${why} ${file}`).join('\0'),
    ...nodes,
  ]
  return { id: `repository ${isFleet} ${followed({ url, ref })}`, about, node: nodes[0]?.key, assess }
}

/** Every part of a fleet that rules are asked about, in the order of the findings. */
function* partsOf(rules: RuleSet, fleet: Fleet, before: Fleet | undefined): Generator<AssessablePart> {
  const keys = new Set(fleet.nodes.map(node => node.key))
  for (const node of fleet.nodes) yield nodePart(rules, node)
  for (const node of before?.nodes ?? []) if (!keys.has(node.key)) yield removedPart(rules, node)
  for (const cluster of fleet.clusters) yield clusterPart(rules, cluster)
  if (rules.ofRepositories.length === 0) return
  const repositories = new EvaluatedRepositories(fleet, before)
  for (const index of fleet.repositories.keys()) yield repositoryPart(rules, repositories.at(index))
}

type Check = (rule: Rule, context: RuleContext) => ReturnType<NonNullable<Rule['checkNode']>>

const assessBy =
  (rules: readonly Rule[], check: Check, place?: Parameters<typeof take>[4]): AssessablePart['assess'] =>
  context => {
    const all = emptyFound('part')
    for (const rule of rules) take(rule, () => check(rule, context), context, all, place)
    return listed(all)
  }

/** What the rules say about one node, or one cluster or repository; every state is `new` until it is compared. */
export interface Assessed {
  readonly findings: Finding[]
  readonly failures: NodeFailure[]
}

/** Asks every rule about a node and what it renders. Pure: the same node and the same answers give the same. */
function assessNode(rules: RuleSet, node: FleetNode, context: RuleContext, keep?: KeepFound): Assessed {
  const results = emptyFound('part')
  for (const one of leftOutOf(node)) refusal(rules, node, one, context, results)
  if (node.source.opaque === WANTED) results.failures.add(unread(node))
  const assess = (object: KubeObject, all: RuleResults) => {
    assessObject(rules, node, object, context, all)
    assessEmbedded(rules, node, object, context, all)
  }
  // what is found about a tenant is limited by node, so it is looked for as a whole
  if (!keep || node.tenant !== undefined) for (const object of node.objects) assess(object, results)
  else addGroups(node.objects, assess, keep, results)
  for (const rule of rules.ofNodes) {
    const where = { node, origin: node.kustomization.root.origin, content: node.digest }
    take(rule, () => rule.checkNode!(node, context), context, results, where)
  }
  return listed(results)
}

/** What is found in objects, each group of which is kept by itself: of one change most groups are the same. */
function addGroups(
  objects: readonly KubeObject[],
  assess: (object: KubeObject, all: RuleResults) => void,
  keep: KeepFound,
  results: RuleResults,
): void {
  const found = new Map<KubeObject, Assessed>()
  for (const [name, group] of Map.groupBy(objects, groupNameOf)) {
    const answers = keep(name, group, () =>
      group.map(object => {
        const all = emptyFound('part')
        assess(object, all)
        return listed(all)
      }),
    )
    for (const [place, one] of answers.entries()) found.set(group[place]!, one)
  }
  for (const object of objects) {
    const { findings = [], failures = [] } = found.get(object) ?? {}
    for (const one of findings) results.findings.add(one)
    for (const one of failures) results.failures.add(one)
  }
}

/** A Namespace is with what is in it. */
function groupNameOf(object: KubeObject): string {
  const { namespace, name } = idOf(object)
  return namespace || name
}

function assessObject(
  rules: RuleSet,
  node: FleetNode,
  object: KubeObject,
  context: RuleContext,
  results: RuleResults,
): void {
  work.objects++
  const subject = new Subject({ node, object })
  const asked = rules.ofKind(subject.kind, node.tenant !== undefined)
  const once = oncePerField(context)
  for (const rule of asked) {
    const check = () => once(rule, checkBy(rule, subject, context))
    take(rule, check, context, results, { node, origin: object.root.origin, content: node.digest })
  }
}

const checkBy = (rule: Rule, subject: Subject, context: RuleContext): Iterable<Violation> =>
  rule.checkObject?.(subject, context) ?? rule.checkTenantObject!(subject as TenantSubject, context)

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
/** Rules about the object as a whole, or about names and values as they are written. */
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
    const { index } = context
    const subject = new Subject({ node: applyingNode(index, node, embedded), object })
    const { apiVersion, kind } = subject.id
    if (place.ownScopeRule && index.scopeOf(node.cluster, apiVersion, kind) !== 'Namespaced') continue
    const once = oncePerField(context)
    for (const rule of rules.ofKind(subject.kind, node.tenant !== undefined)) {
      if (OF_HOLDER.has(rule.id) || place.except?.includes(rule.id)) continue
      if (isTemplate && AS_WRITTEN.has(rule.id)) continue
      if (node.tenant === undefined && !OF_PLATFORM.has(rule.id)) continue
      const check = () => within(embedded, once(rule, checkBy(rule, subject, context)))
      take(rule, check, context, results, { node, origin: holder.root.origin, content: node.digest })
    }
  }
}

/** What a check is about, for what is too much to look at there. */
interface CheckedPlace {
  readonly node: FleetNode
  readonly origin: Origin
  /** The id of all that is there: where that is another one, what was not looked at may be, too. */
  readonly content: string
}

/** Adds what a check found. A `render-limits` error that it throws is an evaluation error of that place. */
function take(
  rule: Rule,
  check: () => Iterable<Violation>,
  context: RuleContext,
  results: RuleResults,
  place?: CheckedPlace | ((origin: Origin | undefined) => CheckedPlace | undefined),
): void {
  work.rules++
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
    const fix = error.typedFix ?? error.fix ?? rule.docs
    add(
      rule,
      overLimit(where.node, error.typed ?? error.message, fix, error.origin ?? where.origin),
      context,
      results,
      where.content,
    )
  }
}

function add(rule: Rule, violation: Violation, context: RuleContext, results: RuleResults, content?: string): void {
  const weight = levelOf(rule, violation, context.config)
  if (weight === undefined) return
  work.findings++
  if (weight.level === 'error') {
    const { message, fix } = violation
    const origin = violation.origin ?? originAt(violation.object.root, violation.path)
    const cause = { code: violation.code ?? rule.id, message, fix, about: aboutOf(violation), hides: content ?? '' }
    results.failures.add(failureOf(violation.node, cause, origin))
  } else if (results.findings.isFull(violation.node.tenant ?? '')) {
    results.findings.leaveOut(violation.node, placeOfViolation(violation), fingerprintIn(rule, violation))
  } else results.findings.add(findingOf(rule, weight, violation, context.index))
}

/** The object and field of a result, whatever node applies it. */
function aboutOf({ object, path, value }: Violation): string[] {
  const { apiVersion, kind, namespace, name } = idOf(object)
  return [groupOf(apiVersion), kind, namespace, name, stablePath(object.root, path), withoutPositions(value)]
}

/** What the renderer refuses by a rule is a finding of that rule; anything else is an error of the node. */
function refusal(rules: RuleSet, node: FleetNode, part: LeftOut, context: RuleContext, results: RuleResults): void {
  const { error, hides, isFatal, follows } = part
  const rule = isForbidden(node, part, context) ? rules.named(error.rule!) : undefined
  const violation: Violation | undefined = rule && {
    node,
    object: node.kustomization,
    path: ['spec', 'path'],
    ...(error.origin ? { origin: error.origin } : {}),
    value: withoutPositions(error.identity ?? error.message),
    message: asMessage(error.typed ?? error.message),
    fix: asMessage(error.typedFix ?? error.fix ?? rule.docs),
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
      : { code: error.code, fix: error.typedFix ?? error.fix ?? 'Correct the file.' }
    // what the platform applies anew passes with an approval
    const where = node.tenant === undefined ? {} : place
    const message = error.typed ?? error.message
    const cause = { ...what, message, identity: error.identity, hides, ...where, blocksApply: isFatal, follows }
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

/** Findings of one tenant about one node, cluster or repository, and in all. The platform's own are not limited. */
const MAX_OF_PART = 5_000
const MAX_OF_TENANT = 20_000

/** What is found while rules are asked. */
interface RuleResults {
  readonly findings: LimitedFindings<Finding>
  readonly failures: LimitedFindings<NodeFailure>
}

export function emptyFound(of: 'part' | 'tenant'): RuleResults {
  return { findings: new LimitedFindings(of), failures: new LimitedFindings(of) }
}

/** All of it, with an error of each tenant of whom something is left out. */
function listed({ findings, failures }: RuleResults): { findings: Finding[]; failures: NodeFailure[] } {
  return { findings: findings.all, failures: [...failures.all, ...findings.failures(), ...failures.failures()] }
}

/** What is left out of the findings of a tenant: at which node that began, and what it was, as one text. */
interface LeftOutFindings {
  readonly node: Pick<FleetNode, 'key' | 'cluster' | 'tenant'>
  readonly origin: NodeFailure['origin']
  /** Other findings that are left out give another text: it is what the error hides. */
  text: string
}

/** Findings or errors up to a limit per tenant, so that one tenant cannot use up the memory of the others. */
class LimitedFindings<T extends Finding | NodeFailure> {
  readonly all: T[] = []
  readonly #limit: number
  readonly #counts = new Map<string, number>()
  readonly #leftOut = new Map<string, LeftOutFindings>()

  constructor(of: 'part' | 'tenant') {
    this.#limit = of === 'part' ? MAX_OF_PART : MAX_OF_TENANT
  }

  add(finding: T): void {
    const { tenant, cluster, node: key, fingerprint, origin } = finding
    const hides = 'hides' in finding ? finding.hides : undefined
    if (this.isFull(tenant)) this.leaveOut({ key, cluster, tenant }, origin, fingerprint, hides)
    else {
      this.#counts.set(tenant, (this.#counts.get(tenant) ?? 0) + 1)
      this.all.push(finding)
    }
  }

  /** Whether no more is taken of a tenant. */
  isFull(tenant: string): boolean {
    return tenant !== '' && (this.#counts.get(tenant) ?? 0) >= this.#limit
  }

  /** Notes what is not listed, of which nothing but its identity is needed. */
  leaveOut(node: LeftOutFindings['node'], origin: LeftOutFindings['origin'], fingerprint: string, hides = ''): void {
    const { key, cluster, tenant = '' } = node
    const known = this.#leftOut.get(tenant) ?? { node: { key, cluster, tenant }, origin, text: '' }
    known.text = hashOf([known.text, fingerprint, hides])
    this.#leftOut.set(tenant, known)
  }

  /** An evaluation error of each tenant of whom findings are left out. */
  failures(): NodeFailure[] {
    return [...this.#leftOut.values()].map(({ node, origin, text }) => {
      const message = `tenant ${node.tenant} has more than ${this.#limit} findings, so not all of them are listed`
      const fix = 'Fix the findings that are listed first.'
      return failureOf(node, { code: 'render-limits', message, fix, hides: text }, origin)
    })
  }
}
