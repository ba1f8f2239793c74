import { hashOf } from '../../facts/fingerprint.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { originAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { message, part } from '../../message/message.ts'
import type { AdmissionFinding } from '../../policy/admission/admission-request.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import {
  type Admission,
  admissionOf,
  deletionOf,
  type FormerAdmission,
  formerAdmissionOf,
} from './support/admission-of.ts'
import { changedPolicies, policiesIn } from './support/changed-policies.ts'
import { deletedObjects } from './support/deleted-objects.ts'
import { findingPolicy } from './support/finding-policy.ts'
import { policyWords } from './support/policy-words.ts'

/** A change that removes a policy together with what it denies needs the approval of a fleet admin. */
export const policyLoosened: Rule = {
  id: 'policy-loosened',
  severity: 'medium',
  level: 'warning',
  title: 'Policy that denies less than before',
  why: 'A change that removes or weakens a policy can add the object that the policy denied. Evaluated with the new policies alone, both pass.',
  source: 'https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/',
  docs: 'Objects are evaluated with the policies from before the change as well. The rule lists what these deny and the new ones do not. It also lists changed and removed policies, bindings, exceptions and parameters (`paramRef`, `configMap`) of the platform. New exceptions and labels of Namespaces by which a policy no longer selects count, too. So does a Kustomization that no longer waits (`dependsOn`) for one with policies. A change of the platform is a warning, and one required approval of a fleet admin for each such object. A tenant that changes what a policy reads, such as its parameters, makes a violation. The rule compares with the base.',
  kinds: 'every',
  *checkObject({ node, object, id, kind }, context) {
    const former = formerAdmissionOf(node, object, context)
    if (!former?.findings.some(({ action }) => action === 'deny')) return
    yield* loosened(node, object, former, context, admissionOf({ node, object, id, kind }, context))
  },
  *checkNode(node, context) {
    yield* deletions(node, context)
    yield* overtaken(node, context)
  },
  *checkRemoved(node, context) {
    yield* deletions(node, context)
  },
  *checkCluster(cluster, { index, before }) {
    const root = index.rootOf(cluster.name)
    if (!root || !before) return
    for (const { object, origin, what, value } of changedPolicies(before, index, cluster.name)) {
      const { kind, namespace, name } = idOf(object)
      const who = objectPart(kind, namespace, name)
      yield {
        node: root,
        object,
        path: [],
        origin,
        value,
        message: message`${who} ${what}, so that less may be denied than before this change. Allowed: policies as they were, or stricter ones. The API server accepts it.`,
        fix: message`Restore ${who}, or have a fleet admin approve the change.`,
      }
    }
  },
}

/** What no longer waits for policies of the platform is applied before they are there. */
function* overtaken(node: FleetNode, { index, before }: RuleContext): Iterable<Violation> {
  const was = before?.node(node.key)
  for (const key of was?.dependsOn ?? []) {
    const policies = index.node(key)
    if (node.dependsOn.includes(key) || !policies || policies.tenant !== undefined) continue
    const [policy] = policiesIn(index.objectsOf(key))
    if (!policy) continue
    const { kind, namespace, name } = idOf(policy)
    const [who, other] = [node, policies].map(one => objectPart('Kustomization', one.namespace, one.name))
    yield {
      node,
      object: node.kustomization,
      path: ['spec', 'dependsOn'],
      origin: originAt(node.kustomization.root, ['spec', 'dependsOn']),
      value: `dependsOn ${policies.namespace}/${policies.name}`,
      message: message`${who!} no longer waits for ${other!}, so its objects may be applied before ${objectPart(kind, namespace, name)}. Allowed: policies that are there first. Flux accepts it.`,
      fix: message`Restore ${part('value', policies.name)} in spec.dependsOn, or have a fleet admin approve the change.`,
    }
  }
}

function* deletions(node: FleetNode, context: RuleContext): Iterable<Violation> {
  for (const object of deletedObjects(node, context)) {
    const former = formerAdmissionOf(node, object, context, 'DELETE')
    if (!former) return
    yield* loosened(node, object, former, context, deletionOf(node, object, idOf(object), context))
  }
}

/** What only the former policies deny; an object that a policy still denies is not let in. */
function* loosened(
  node: FleetNode,
  object: KubeObject,
  former: FormerAdmission,
  context: RuleContext,
  now: Admission | undefined,
): Iterable<Violation> {
  if (now?.findings.some(({ action }) => action === 'deny')) return
  for (const finding of former.findings) {
    if (finding.action === 'deny') yield violationOf(node, object, former, finding, context)
  }
}

function violationOf(
  node: FleetNode,
  object: KubeObject,
  former: FormerAdmission,
  finding: AdmissionFinding,
  { before }: RuleContext,
): Violation {
  const words = policyWords(before, node.cluster, object, finding)
  const { kind, namespace, name } = idOf(object)
  const { policy, rule, origin } = finding
  const by = objectPart(policy.kind, policy.namespace, policy.name)
  const isTenants = former.change === 'tenant'
  return {
    node,
    object,
    path: finding.field,
    ...(isTenants ? {} : { origin }),
    value: `${policy.kind} ${policy.namespace}/${policy.name} ${rule} ${hashOf([finding.check ?? ''])}`,
    level: isTenants ? 'violation' : 'warning',
    message: message`${objectPart(kind, namespace, name)}: ${by} denied it before this change: ${quoted('value', words)}. No policy denies it any more. The policy was at ${part('path', `${origin.file}:${origin.line}`)}.`,
    fix: isTenants
      ? message`Restore what ${by} reads, or ask a fleet admin to change the policy.`
      : message`Restore ${by}, or have a fleet admin approve the change.`,
    policy: findingPolicy(finding, 'allow', former.isUnchanged),
  }
}
