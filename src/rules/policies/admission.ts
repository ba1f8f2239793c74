import {
  type AdmissionAnswer,
  type AdmissionFinding,
  type AdmissionOperation,
  type AdmissionRequest,
  type AdmissionWorld,
  type PolicyRuleName,
  worldOf,
} from '../../admission/admission/admission-request.ts'
import { EXCEPTION_KINDS, exceptionSettings } from '../../admission/kyverno/kyverno-settings.ts'
import { evaluateAdmission, policyEngines } from '../../admission/policy-engines.ts'
import { oncePer } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import { redact } from '../../base/visible.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import type { Rendered } from '../../fleet/facts/object-table.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { at, canonical, changedPath, originAt, stringAt } from '../../kube/node.ts'
import { groupOf, type KubeObject } from '../../kube/object.ts'
import { userInfo } from '../../kube/rbac/policy-rule.ts'
import { customPlurals, resourceOf } from '../../kube/rbac/resources.ts'
import type { FindingPolicy } from '../model/finding.ts'
import { scalarsOf } from '../model/object-values.ts'
import type { RuleContext, Subject } from '../model/rule.ts'
import { lostObjects } from '../ownership/deletions.ts'

/** The request by which Flux would apply an object, and the answers of the cluster's policies. */
export interface Admission extends AdmissionAnswer {
  readonly operation: AdmissionOperation
  /** The change does not alter the object. */
  readonly isUnchanged: boolean
}

/** The policies' answers about a rendered object; undefined where the cluster has no policies, and for embedded objects. */
export function admissionOf(
  subject: Subject,
  context: RuleContext,
  passed?: AdmissionRequest['passed'],
): Admission | undefined {
  const { object, id, kind, node } = subject
  const isRendered = context.index
    .versionsOf(node.cluster, kind, id.namespace, id.name)
    .some(version => version.object === object)
  return isRendered ? answerFor(subject, context, passed ? { passed } : {}) : undefined
}

/** The policies' answers about any object, also with a part of it replaced. */
export function answerFor(
  subject: Subject,
  context: RuleContext,
  given: Partial<Pick<AdmissionRequest, 'object' | 'passed'>> = {},
): Admission | undefined {
  const { index, before } = context
  const { object, id, kind, node } = subject
  if (!hasPolicies(index, node.cluster)) return undefined
  const world = worldOf(index, node.cluster)
  const versions = before?.versionsOf(node.cluster, kind, id.namespace, id.name) ?? []
  const old = changedFrom(versions, object)
  const isUnchanged = versions.length > 0 && old === undefined
  const request = requestOf(context, world, subject, old, old ? 'UPDATE' : 'CREATE')
  return { operation: request.operation, isUnchanged, ...evaluateAdmission(world, { ...request, ...given }) }
}

/**
 * The answers of policies from before the change about an object as it is now, or about its deletion; undefined where
 * the cluster had none, or where neither they nor what they read has changed.
 */
export function formerAdmissionOf(
  subject: Subject,
  context: RuleContext,
  operation: 'APPLY' | 'DELETE' = 'APPLY',
): FormerAdmission | undefined {
  const { index, before } = context
  const { object, node, id } = subject
  if (!before) return undefined
  if (!hasPolicies(before, node.cluster)) return undefined
  const former = worldOf(before, node.cluster)
  const change = policyChange(before, index, node.cluster)
  if (!change) return undefined
  const now = worldOf(index, node.cluster)
  // a new object has no earlier form
  const world: AdmissionWorld = { ...former, object: (...asked) => former.object(...asked) ?? now.object(...asked) }
  const versions = before.versionsOf(node.cluster, subject.kind, id.namespace, id.name)
  const changed = changedFrom(versions, object)
  const isUnchanged = versions.length > 0 && changed === undefined
  const old = operation === 'DELETE' ? undefined : changed
  const applied = old ? 'UPDATE' : 'CREATE'
  const request = requestOf(context, former, subject, old, operation === 'DELETE' ? operation : applied)
  return { change, operation: request.operation, isUnchanged, ...evaluateAdmission(world, request) }
}

export interface FormerAdmission extends Admission {
  readonly change: PolicyChange
}

/** The policies' answers about the deletion of an object that a node no longer renders. */
export function deletionOf(subject: Subject, context: RuleContext): Admission | undefined {
  if (!hasPolicies(context.index, subject.node.cluster)) return undefined
  const world = worldOf(context.index, subject.node.cluster)
  const request = requestOf(context, world, subject, undefined, 'DELETE')
  return { operation: 'DELETE', isUnchanged: false, ...evaluateAdmission(world, request) }
}

/** Whether a cluster has policies at all: most have none, and then nothing is evaluated. */
const hasPolicies = (index: FleetIndex, cluster: string) =>
  index.platformHas(
    cluster,
    policyEngines.flatMap(({ kinds }) => kinds),
  )

/**
 * The object before, if it changed: an unchanged one is evaluated as new, before the change too, so that nothing is
 * reported that the change did not cause.
 */
function changedFrom(versions: readonly { readonly object: KubeObject }[], object: KubeObject): KubeObject | undefined {
  const last = versions.at(-1)?.object
  if (!last || versions.some(version => version.object.root === object.root)) return undefined
  return canonical(last.root) === canonical(object.root) ? undefined : last
}

function requestOf(
  { index }: RuleContext,
  world: AdmissionWorld,
  { node: { cluster, identity }, object, id }: Subject,
  old: KubeObject | undefined,
  operation: AdmissionOperation,
): AdmissionRequest {
  const definitions = world.policies('apiextensions.k8s.io/CustomResourceDefinition')
  return {
    ...{ object, id, operation },
    ...(old ? { old } : {}),
    user: userInfo(identity.user),
    resource: resourceOf(id.apiVersion, id.kind, pluralsOf(definitions)),
    isNamespaced:
      (index.scopeOf(cluster, id.apiVersion, id.kind) ?? (id.namespace ? 'Namespaced' : 'Cluster')) === 'Namespaced',
  }
}

const pluralsOf = oncePer(customPlurals)

/** Which change affects policies: of the platform's policies, or only of tenants' objects that the policies read. */
type PolicyChange = 'platform' | 'tenant'

/** Whether the policies of a cluster, or objects that they read, differ between two fleets; undefined if they do not. */
function policyChange(before: FleetIndex, index: FleetIndex, cluster: string): PolicyChange | undefined {
  const own = policyEngines.flatMap(({ kinds, companions }) => [...kinds, ...companions])
  const isOther = own.some(kind =>
    differs(before.platformAnywhere(cluster, kind), index.platformAnywhere(cluster, kind)),
  )
  if (isOther || areExceptionsReadOtherwise(before, index, cluster)) return 'platform'
  // ConfigMaps are parameters and contexts, labels of Namespaces decide what is selected
  const read = new Set(['/Namespace', '/ConfigMap', ...parameterKinds(before, cluster)])
  const changed = [...read].flatMap(kind =>
    changedIn(before.renderedAnywhere(cluster, kind), index.renderedAnywhere(cluster, kind)),
  )
  if (changed.length === 0) return undefined
  return changed.some(({ node }) => node.tenant === undefined) ? 'platform' : 'tenant'
}

/** Whether Kyverno's flags for exceptions change, where the fleet has exceptions. */
function areExceptionsReadOtherwise(before: FleetIndex, index: FleetIndex, cluster: string): boolean {
  if (EXCEPTION_KINDS.every(kind => index.platformAnywhere(cluster, kind).length === 0)) return false
  const [was, is] = [before, index].map(one => exceptionSettings(worldOf(one, cluster)))
  return was?.isEnabled !== is?.isEnabled || was?.namespace !== is?.namespace
}

function parameterKinds(index: FleetIndex, cluster: string): string[] {
  return index
    .platformAnywhere(cluster, 'admissionregistration.k8s.io/ValidatingAdmissionPolicy')
    .flatMap(({ object: { root } }) => {
      const kind = stringAt(root, ['spec', 'paramKind', 'kind'])
      return kind ? [`${groupOf(stringAt(root, ['spec', 'paramKind', 'apiVersion']) ?? '')}/${kind}`] : []
    })
}

type Objects = readonly Rendered[]

/** Unchanged lists are compared once, because this is called for every object of a cluster. */
const compared = new WeakMap<Objects, WeakMap<Objects, readonly Rendered[]>>()

const differs = (was: Objects, is: Objects) => changedIn(was, is).length > 0

/** The objects of either list that the other lacks or has in another form. */
function changedIn(was: Objects, is: Objects): readonly Rendered[] {
  if (was === is) return []
  const known = compared.get(was)?.get(is)
  if (known) return known
  const made = [...missing(was, is), ...missing(is, was)]
  compared.set(was, (compared.get(was) ?? new WeakMap<Objects, readonly Rendered[]>()).set(is, made))
  return made
}

function missing(from: Objects, others: Objects): Rendered[] {
  const roots = new Set(others.map(({ object }) => object.root))
  const open = from.filter(({ object }) => !roots.has(object.root))
  if (open.length === 0) return []
  const texts = new Set(others.map(({ object }) => canonical(object.root)))
  return open.filter(({ object }) => !texts.has(canonical(object.root)))
}

/** The objects that Flux deletes because a pruning node no longer renders them. */
export function deletedObjects(node: FleetNode, { index, before }: RuleContext): readonly KubeObject[] {
  if (!before || !node.prune) return []
  return lostObjects(node.cluster, before.objectsOf(node.key), index.objectsOf(node.key), index)
}

/** The policy of a finding in the form that the verdict lists. */
export function findingPolicy(
  { policy, rule, origin }: PolicyRuleName & { readonly origin: Origin },
  action: FindingPolicy['action'],
  isUnchanged: boolean,
): FindingPolicy {
  const { kind, namespace, name } = policy
  const { repository, file, line } = origin
  return {
    kind,
    namespace,
    name,
    rule,
    action,
    origin: { repository, file, line },
    ...(isUnchanged ? { isUnchanged } : {}),
  }
}

/** Words without the quotes that expressions and messages put around them. */
const WORDS = /[^\s'"`]+/g
const GROUPS = ['kyverno.io', 'policies.kyverno.io', 'admissionregistration.k8s.io']
/** Words that engines add to a policy's message. */
const FRAME = 'rule failed at path validation error failed expression: expression resulted in error:'

/**
 * A policy's message about an object, for readers of a report. It can quote the object, so about a Secret only words of
 * the policy itself are shown, and about others none that look like a credential.
 */
export function policyWords(
  index: FleetIndex | undefined,
  { node, id }: Pick<Subject, 'node' | 'id'>,
  finding: AdmissionFinding,
): string {
  if (id.kind !== 'Secret') return redact(finding.message)
  const known = new Set([...wordsOf(FRAME), ...wordsOf(finding.rule), ...policyText(index, node.cluster, finding)])
  return finding.message.replace(WORDS, word => (known.has(word) ? word : '***'))
}

const wordsOf = (text: string): readonly string[] => text.match(WORDS) ?? []

/** Where a change makes a policy, or its binding, refuse what the change does not alter. */
export function policyEdit(
  cluster: string,
  { policy: { kind, namespace, name }, rule }: AdmissionFinding,
  index: FleetIndex,
  before: FleetIndex,
): Origin | undefined {
  const written = (of: FleetIndex, [kindOf, named]: readonly [string, string]) =>
    GROUPS.map(group => of.platformObject(cluster, `${group}/${kindOf}`, namespace, named)).find(Boolean)?.root
  for (const one of [[kind, name] as const, [`${kind}Binding`, rule] as const]) {
    const [was, is] = [written(before, one), written(index, one)]
    const [old, young] = [was, is].map(root => at(root, ['spec']))
    if (!is || was === is) continue
    const path = old && young ? changedPath(old, young) : undefined
    if (path === undefined) return is.origin
    if (path.length > 0) return originAt(is, ['spec', ...path])
  }
  return undefined
}

function policyText(index: FleetIndex | undefined, cluster: string, { policy }: AdmissionFinding): string[] {
  const { kind, namespace, name } = policy
  for (const group of GROUPS) {
    const found = index?.platformObject(cluster, `${group}/${kind}`, namespace, name)
    if (found) return [...scalarsOf(found.root)].flatMap(({ node }) => wordsOf(String(node.value)))
  }
  return []
}
