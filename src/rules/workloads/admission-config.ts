import type { FleetIndex } from '../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { at, type Path, stringAt } from '../../kube/node.ts'
import { idOf } from '../../kube/object.ts'
import { message } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { everyPath } from './support/every-path.ts'
import { exceptedPolicy } from './support/excepted-policy.ts'

/** Kinds that decide what the API server lets in, or who answers for it, by `<group>/<Kind>`. */
const KINDS = [
  'admissionregistration.k8s.io/MutatingWebhookConfiguration',
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration',
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy',
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding',
  'admissionregistration.k8s.io/MutatingAdmissionPolicy',
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding',
  'apiregistration.k8s.io/APIService',
  'flowcontrol.apiserver.k8s.io/FlowSchema',
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration',
  'kyverno.io/ClusterPolicy',
  'kyverno.io/ClusterCleanupPolicy',
  'policies.kyverno.io/ValidatingPolicy',
  'policies.kyverno.io/MutatingPolicy',
  'policies.kyverno.io/GeneratingPolicy',
  'policies.kyverno.io/DeletingPolicy',
  'policies.kyverno.io/ImageValidatingPolicy',
  'templates.gatekeeper.sh/ConstraintTemplate',
  'config.gatekeeper.sh/Config',
  'mutations.gatekeeper.sh/Assign',
  'mutations.gatekeeper.sh/AssignMetadata',
  'mutations.gatekeeper.sh/AssignImage',
  'mutations.gatekeeper.sh/ModifySet',
  'policies.kubewarden.io/ClusterAdmissionPolicy',
  'policies.kubewarden.io/ClusterAdmissionPolicyGroup',
  'policies.kubewarden.io/PolicyServer',
]
/** They exempt objects of their own namespace from the platform's policies. */
const EXCEPTIONS = ['kyverno.io/PolicyException', 'policies.kyverno.io/PolicyException']

/** Where configurations name the Service that is asked. */
const SERVICES: readonly Path[] = [
  ['webhooks', '*', 'clientConfig', 'service', 'namespace'],
  ['spec', 'service', 'namespace'],
]

/** What the API server admits, and who serves its groups, is the platform's to say. */
export const admissionConfig: Rule = {
  id: 'admission-config',
  severity: 'critical',
  title: 'Admission configuration in tenant content',
  why: "A webhook receives and changes every object that it selects, including Secrets and tokens. An admission policy, an APIService or a flow schema can stop the cluster or bypass the platform's policies.",
  source: 'CVE-2026-22872',
  docs: 'Move webhooks, admission policies, APIServices and flow schemas to the fleet repository, and their Services to a platform namespace. A policy exception is a violation if it names a policy that the platform renders, else a warning.',
  kinds: [...KINDS, ...EXCEPTIONS],
  *checkObject(subject, { index }) {
    const { node, kind } = subject
    if (node.tenant === undefined) yield* inTenantsHands(subject, index)
    else if (EXCEPTIONS.includes(kind)) yield exception(subject, index)
    else yield violation(subject)
  },
}

/** An exception from a policy that the platform renders lets its tenant bypass the policy; any other has no effect that git shows. */
function exception(subject: Subject, index: FleetIndex): Violation {
  const { object, id, node } = subject
  const policy = exceptedPolicy(index, node.cluster, object)
  if (!policy) return { ...violation(subject), level: 'warning', severity: 'high' }
  const { kind, namespace, name } = idOf(policy)
  const by = objectPart(kind, namespace, name)
  return {
    ...violation(subject),
    severity: 'high',
    message: message`${objectPart(id.kind, id.namespace, id.name)} exempts objects from ${by}, a policy of the platform. Allowed: this kind only in the fleet repository. Bailiwick evaluates the policy without the exception.`,
  }
}

function violation({ object, id, node }: Subject): Violation {
  return {
    node,
    object,
    path: ['kind'],
    value: id.kind,
    message: message`${objectPart(id.kind, id.namespace, id.name)} configures admission for other tenants or the platform. Allowed: this kind only in the fleet repository. The API server accepts it if the account has the rights.`,
    fix: message`Remove the object, or ask a fleet admin to add it to the fleet repository.`,
  }
}

/** The platform's own configuration, which a tenant's Service would answer. */
function* inTenantsHands({ object, id, node }: Subject, index: FleetIndex): Iterable<Violation> {
  for (const path of SERVICES.flatMap(pattern => everyPath(object.root, pattern))) {
    const namespace = stringAt(object.root, path) ?? ''
    if (at(object.root, path) === undefined || index.ownerOf(node.cluster, namespace) === undefined) continue
    yield {
      node,
      object,
      path,
      value: namespace,
      level: 'warning',
      message: message`${objectPart(id.kind, '', id.name)} makes the API server call a Service in the tenant's namespace ${quoted('object', namespace)}. Allowed: a Service of the platform.`,
      fix: message`Set the service reference to a Service in a platform namespace.`,
    }
  }
}
