import { matchesWildcard } from '../../admission/jmespath/values.ts'
import { message, part } from '../../base/message.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { objectPart, quoted, whoOf } from '../../fleet/facts/shown.ts'
import { HELM_RELEASE } from '../../kube/flux-kinds.ts'
import { at, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { isUnset, textOf } from '../model/object-values.ts'
import { type Rule, type Subject, serverAnswer, type Violation } from '../model/rule.ts'

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

/** The platform decides what the API server admits, and which Services serve its groups. */
export const admissionConfig: Rule = {
  id: 'admission-config',
  severity: 'critical',
  title: 'Admission configuration in tenant content',
  why: "A webhook receives and changes every object that it selects, including Secrets and tokens. An admission policy, an APIService or a flow schema can stop the cluster or bypass the platform's policies.",
  source: 'CVE-2026-22872',
  docs: 'Move webhooks, admission policies, APIServices and flow schemas to the fleet repository, and their Services to a platform namespace. A policy exception is a violation if it names a policy that the platform renders, else a warning.',
  kinds: [...KINDS, ...EXCEPTIONS],
  *checkObject(subject, { index }) {
    if (subject.node.tenant === undefined) yield* inTenantsHands(subject, index)
    else if (EXCEPTIONS.includes(subject.kind)) yield exception(subject, index)
    else yield violation(subject)
  },
}

/** An exception from a policy that the platform renders lets its tenant bypass the policy; any other has no effect that git shows. */
function exception(subject: Subject, index: FleetIndex): Violation {
  const policy = exceptedPolicy(index, subject.node.cluster, subject.object)
  if (!policy) return { ...violation(subject), level: 'warning', severity: 'high' }
  const by = whoOf(policy)
  return {
    ...violation(subject),
    severity: 'high',
    message: message`${subject.who} exempts objects from ${by}, a policy of the platform. Allowed: this kind only in the fleet repository. Bailiwick evaluates the policy without the exception.`,
  }
}

function violation(subject: Subject): Violation {
  return subject.violation(['kind'], subject.id.kind, {
    message: message`${subject.who} configures admission for other tenants or the platform. Allowed: this kind only in the fleet repository. The API server accepts it if the account has the rights.`,
    fix: message`Remove the object, or ask a fleet admin to add it to the fleet repository.`,
  })
}

/** The platform's own configuration that a tenant's Service would answer. */
function* inTenantsHands(subject: Subject, index: FleetIndex): Iterable<Violation> {
  const { id, node } = subject
  for (const path of SERVICES.flatMap(pattern => subject.items(pattern))) {
    const namespace = subject.text(path) ?? ''
    if (subject.at(path) === undefined || index.ownerOf(node.cluster, namespace) === undefined) continue
    yield subject.violation(path, namespace, {
      level: 'warning',
      message: message`${objectPart(id.kind, '', id.name)} makes the API server call a Service in the tenant's namespace ${quoted('object', namespace)}. Allowed: a Service of the platform.`,
      fix: message`Set the service reference to a Service in a platform namespace.`,
    })
  }
}

const DEFINITION = 'apiextensions.k8s.io/CustomResourceDefinition'

/** Definitions of kinds are the platform's: neither a manifest nor a chart of a tenant replaces them. */
export const crdAdmission: Rule = {
  id: 'crd-admission',
  severity: 'critical',
  title: 'CustomResourceDefinition in tenant content',
  why: 'A CustomResourceDefinition is cluster-scoped. Replacing one can drop fields, validation or stored versions for all tenants. Its conversion webhook can read and change every object of the kind.',
  docs: 'Ask a fleet admin to install the CustomResourceDefinition. In a HelmRelease, leave out `install.crds` and `upgrade.crds`, or set them to `Skip` or `Create`.',
  kinds: [DEFINITION, HELM_RELEASE],
  *checkObject(subject, { index }) {
    if (subject.kind === HELM_RELEASE) yield* release(subject, index)
    else if (subject.node.tenant !== undefined) yield definition(subject, index)
    else yield* conversion(subject, index)
  },
}

function* release(subject: Subject, index: FleetIndex): Iterable<Violation> {
  const { object, node } = subject
  if (node.tenant === undefined || index.actsFor(node, object) === undefined) return
  for (const when of ['install', 'upgrade']) {
    const path: Path = ['spec', when, 'crds']
    const policy = subject.at(path)
    const text = textOf(policy) ?? ''
    if (!policy || isUnset(policy) || text === 'Skip' || text === 'Create') continue
    yield subject.violation(path, text, {
      severity: 'high',
      message: message`${subject.who} replaces CustomResourceDefinitions, which are cluster-scoped: ${part('field', `spec.${when}.crds`)} is ${quoted('value', text)}. Allowed: Skip and Create. Flux would replace them with the rights of its service account.`,
      fix: message`Remove ${part('field', `spec.${when}.crds`)}, and ask a fleet admin to install the CustomResourceDefinitions.`,
      edit: { remove: true },
    })
  }
}

function definition(subject: Subject, index: FleetIndex): Violation {
  const webhook = textOf(subject.at(['spec', 'conversion', 'strategy'])) === 'Webhook'
  const path = webhook ? ['spec', 'conversion', 'strategy'] : ['kind']
  const value = webhook ? 'Webhook' : 'CustomResourceDefinition'
  return subject.violation(path, value, {
    message: message`${objectPart(subject.id.kind, '', subject.id.name)} defines a kind for the whole cluster${webhook ? ', with a conversion webhook that reads all its objects' : ''}. Allowed: CustomResourceDefinitions that the platform applies.${serverAnswer(index, subject)}`,
    fix: message`Remove the object, or ask a fleet admin to add it to the fleet repository.`,
  })
}

/** The platform's definitions are its own, unless a tenant's Service would convert all users' objects. */
function* conversion(subject: Subject, index: FleetIndex): Iterable<Violation> {
  const { id, node } = subject
  const places: Path[] = [
    ['spec', 'conversion', 'webhook', 'clientConfig', 'service', 'namespace'],
    ['spec', 'conversion', 'webhookClientConfig', 'service', 'namespace'],
  ]
  for (const path of places) {
    const namespace = subject.text(path)
    if (namespace === undefined || index.ownerOf(node.cluster, namespace) === undefined) continue
    yield subject.violation(path, namespace, {
      level: 'warning',
      message: message`${objectPart(id.kind, '', id.name)} makes a Service in the tenant's namespace ${quoted('object', namespace)} convert every object of its kind. Allowed: a Service of the platform.`,
      fix: message`Set spec.conversion.webhook.clientConfig.service to a Service in a platform namespace.`,
    })
  }
}

/** Policy kinds that a PolicyException can name. */
const POLICIES = [
  'kyverno.io/ClusterPolicy',
  'kyverno.io/Policy',
  'policies.kyverno.io/ValidatingPolicy',
  'policies.kyverno.io/NamespacedValidatingPolicy',
  'policies.kyverno.io/ImageValidatingPolicy',
  'policies.kyverno.io/NamespacedImageValidatingPolicy',
  'policies.kyverno.io/MutatingPolicy',
  'policies.kyverno.io/NamespacedMutatingPolicy',
  'policies.kyverno.io/GeneratingPolicy',
  'policies.kyverno.io/NamespacedGeneratingPolicy',
  'policies.kyverno.io/DeletingPolicy',
  'policies.kyverno.io/NamespacedDeletingPolicy',
]

/** The first policy that the platform renders on a cluster and that a PolicyException names, also by wildcard. */
export function exceptedPolicy(index: FleetIndex, cluster: string, exception: KubeObject): KubeObject | undefined {
  const patterns = namesIn(exception)
  if (patterns.length === 0) return undefined
  for (const kind of POLICIES) {
    for (const { object } of index.platformAnywhere(cluster, kind)) {
      const { namespace, name } = idOf(object)
      const names = namespace === '' ? [name] : [name, `${namespace}/${name}`]
      if (patterns.some(pattern => names.some(one => matchesWildcard(pattern, one)))) return object
    }
  }
  return undefined
}

/** `spec.exceptions` of kyverno.io, `spec.policyRefs` of policies.kyverno.io. */
function namesIn({ root }: KubeObject): string[] {
  return [
    ['exceptions', 'policyName'],
    ['policyRefs', 'name'],
  ].flatMap(([list, field]) => {
    const items = at(root, ['spec', list!])
    return items?.type === 'list' ? items.items.flatMap(item => stringAt(item, [field!]) ?? []) : []
  })
}
