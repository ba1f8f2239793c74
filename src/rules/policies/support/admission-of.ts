import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { kindOf } from '../../../facts/kind-of.ts'
import type { Subject } from '../../../facts/subject.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { canonical } from '../../../kube/node.ts'
import { idOf, type KubeObject, type ObjectId } from '../../../kube/object.ts'
import { userInfo } from '../../../kube/rbac/groups-of.ts'
import { customPlurals, resourceOf } from '../../../kube/rbac/resource-name.ts'
import type {
  AdmissionAnswer,
  AdmissionOperation,
  AdmissionRequest,
} from '../../../policy/admission/admission-request.ts'
import { type AdmissionWorld, worldOf } from '../../../policy/admission/admission-world.ts'
import { evaluateAdmission, hasPolicies } from '../../../policy/registry/policy-engines.ts'
import type { RuleContext } from '../../model/rule.ts'
import { type PolicyChange, policyChange } from './policy-inputs.ts'

/** The request by which Flux would bring an object to its cluster, and what the policies there say about it. */
export interface Admission extends AdmissionAnswer {
  readonly operation: AdmissionOperation
  /** The change does not alter the object. */
  readonly isUnchanged: boolean
}

/** What policies say about an object that is rendered; undefined where the cluster has none, and for what is embedded in another object. */
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

/** What policies say about any object, also with a part of it replaced. */
export function answerFor(
  subject: Subject,
  context: RuleContext,
  given: Partial<Pick<AdmissionRequest, 'object' | 'passed'>> = {},
): Admission | undefined {
  const { index, before } = context
  const { object, id, kind, node } = subject
  const world = worldOf(index, node.cluster)
  if (!hasPolicies(world)) return undefined
  const versions = before?.versionsOf(node.cluster, kind, id.namespace, id.name) ?? []
  const old = changedFrom(versions, object)
  const isUnchanged = versions.length > 0 && old === undefined
  const request = requestOf(context, world, node, { object, id, old, operation: old ? 'UPDATE' : 'CREATE' })
  const answer = evaluateAdmission(world, { ...request, ...given })
  return {
    operation: request.operation,
    isUnchanged,
    ...answer,
  }
}

/**
 * What the policies from before the change say about an object as it is now, or about its deletion; undefined where the cluster had
 * none, or where neither they nor what they read has changed.
 */
export function formerAdmissionOf(
  node: FleetNode,
  object: KubeObject,
  context: RuleContext,
  operation: 'APPLY' | 'DELETE' = 'APPLY',
): FormerAdmission | undefined {
  const { index, before } = context
  if (!before) return undefined
  const former = worldOf(before, node.cluster)
  if (!hasPolicies(former)) return undefined
  const change = policyChange(before, index, node.cluster)
  if (!change) return undefined
  const now = worldOf(index, node.cluster)
  // what is new is as it is now: it has no other form
  const world: AdmissionWorld = { ...former, object: (...asked) => former.object(...asked) ?? now.object(...asked) }
  const id = idOf(object)
  const old =
    operation === 'DELETE'
      ? undefined
      : changedFrom(before.versionsOf(node.cluster, kindOf(object), id.namespace, id.name), object)
  const applied = old ? 'UPDATE' : 'CREATE'
  const request = requestOf(context, former, node, {
    object,
    id,
    old,
    operation: operation === 'DELETE' ? operation : applied,
  })
  return {
    change,
    operation: request.operation,
    isUnchanged: isSame(before, node, object),
    ...evaluateAdmission(world, request),
  }
}

export interface FormerAdmission extends Admission {
  readonly change: PolicyChange
}

const isSame = (before: FleetIndex, { cluster }: FleetNode, object: KubeObject): boolean => {
  const { namespace, name } = idOf(object)
  const versions = before.versionsOf(cluster, kindOf(object), namespace, name)
  return versions.length > 0 && changedFrom(versions, object) === undefined
}

/** What policies say about the deletion of an object that a node does not render any more. */
export function deletionOf(
  node: FleetNode,
  object: KubeObject,
  id: ObjectId,
  context: RuleContext,
): Admission | undefined {
  const world = worldOf(context.index, node.cluster)
  if (!hasPolicies(world)) return undefined
  const request = requestOf(context, world, node, { object, id, old: undefined, operation: 'DELETE' })
  return { operation: 'DELETE', isUnchanged: false, ...evaluateAdmission(world, request) }
}

/**
 * The object as it was, where it changed: one that is the same is evaluated as if it were new, as it was before the change, so
 * that nothing is found that the change did not make.
 */
function changedFrom(versions: readonly { readonly object: KubeObject }[], object: KubeObject): KubeObject | undefined {
  const last = versions.at(-1)?.object
  if (!last || versions.some(version => version.object.root === object.root)) return undefined
  return canonical(last.root) === canonical(object.root) ? undefined : last
}

function requestOf(
  { index }: RuleContext,
  world: AdmissionWorld,
  { cluster, identity }: FleetNode,
  asked: {
    readonly object: KubeObject
    readonly id: ObjectId
    readonly old: KubeObject | undefined
    readonly operation: AdmissionOperation
  },
): AdmissionRequest {
  const { object, id, old, operation } = asked
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

const plurals = new WeakMap<readonly KubeObject[], ReturnType<typeof customPlurals>>()

function pluralsOf(definitions: readonly KubeObject[]): ReturnType<typeof customPlurals> {
  const kept = plurals.get(definitions) ?? customPlurals(definitions)
  plurals.set(definitions, kept)
  return kept
}
