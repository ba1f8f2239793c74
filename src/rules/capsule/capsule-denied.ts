import { hashOf } from '../../facts/fingerprint.ts'
import { objectPart } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { at, canonical, originAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { message, part } from '../../message/message.ts'
import { serverWords } from '../model/api-refusal.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { TENANT, webhookVersion } from './support/capsule-tenants.ts'
import { cordonedChanges, cordonedTenant } from './support/cordoned-changes.ts'
import type { CapsuleRefusal } from './support/refused-class.ts'
import { refusedFields } from './support/refused-fields.ts'
import { refusedNamespace } from './support/refused-namespace.ts'

/** Capsule's admission webhooks are part of what the API server answers. */
export const capsuleDenied: Rule = {
  id: 'capsule-denied',
  severity: 'high',
  title: 'Object that Capsule refuses',
  why: "Capsule's admission webhooks refuse what the Tenant of a namespace does not allow. Flux then applies nothing of that stage. Refused Pods are seen even later: Flux applies the Deployment, and its ReplicaSet cannot create them.",
  source: 'Capsule: internal/webhook',
  docs: 'Change the object to what the Tenant allows, or ask a fleet admin to change the Tenant. Evaluated: quota, forced prefix, protected names and required metadata of new Namespaces; registries, pull policies, priority, runtime and storage classes of Pods and claims; classes of devices; classes, hostnames and their collisions of Ingresses, classes of Gateways; types, labels, annotations and external addresses of Services; changes in a cordoned Tenant. The words are those of the version of Capsule that the fleet shows, else of 0.14. What a change of the Tenant breaks is a warning. So is a class whose labels are not in the fleet.',
  kinds: 'every',
  *checkObject(subject, context) {
    const { node, kind, id } = subject
    const { index } = context
    if (kind === TENANT && node.tenant === undefined) yield* cordonedTenant(subject, index)
    const tenant = index.capsuleTenantAt(node.cluster, kind === '/Namespace' ? id.name : id.namespace)
    for (const refusal of tenant ? refusalsOf(subject, tenant, context) : []) {
      yield violation(subject, tenant!, refusal, levelOf(subject, refusal, context))
    }
  },
  *checkNode(node, context) {
    yield* cordonedChanges(node, context)
  },
}

function* refusalsOf(subject: Subject, tenant: KubeObject, context: RuleContext): Iterable<CapsuleRefusal> {
  const { cluster } = subject.node
  const version = webhookVersion(context.index, cluster)
  if (subject.kind === '/Namespace') return yield* refusedNamespace(subject, tenant, version, context)
  const spec = at(tenant.root, ['spec'])
  if (!spec) return
  const { index, before } = context
  yield* refusedFields(subject, { index, before, cluster, spec, tenant: idOf(tenant).name, version })
}

/** What the Tenant now refuses of an object that stays as it was does not block the Tenant's change. */
function levelOf(subject: Subject, refusal: CapsuleRefusal, { before }: RuleContext): 'violation' | 'warning' {
  if (refusal.words === undefined) return 'warning'
  const { node, kind, id, object } = subject
  const text = canonical(object.root)
  const was = before
    ?.versionsOf(node.cluster, kind, id.namespace, id.name)
    .find(one => canonical(one.object.root) === text)?.object
  const tenant = was && before?.capsuleTenantAt(node.cluster, id.namespace)
  if (!before || !was) return 'violation'
  const known = tenant
    ? [...refusalsOf({ ...subject, object: was }, tenant, { index: before, config: before.proposed() })]
    : []
  return known.some(one => one.value === refusal.value && one.words !== undefined) ? 'violation' : 'warning'
}

function violation(
  { node, object, id }: Subject,
  tenant: KubeObject,
  { path, what, field, words, value, fix }: CapsuleRefusal,
  level: 'violation' | 'warning',
): Violation {
  const { file, line } = originAt(tenant.root, ['spec', ...field])
  const limit = message`${part('field', field.map(String).join('.'))} of ${objectPart('Tenant', '', idOf(tenant).name)} (${part('path', `${file}:${line}`)})`
  const who = objectPart(id.kind, id.namespace, id.name)
  return {
    node,
    object,
    path,
    value: `${what} ${field.map(String).join('.')} ${value}`,
    level,
    cause: hashOf(['capsule', node.cluster, idOf(tenant).name, ...field.map(String), value]),
    message: words
      ? message`${who}: Capsule refuses ${what}. Allowed: what ${limit} allows. Capsule: ${serverWords(words.replace(/\.$/, ''))}.`
      : message`${who}: whether Capsule refuses ${what} depends on a class that the fleet does not render. Allowed: what ${limit} allows.`,
    fix: fix ?? message`Change ${part('field', path.map(String).join('.'))} to a value that ${limit} allows.`,
  }
}
