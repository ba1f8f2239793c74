import { listed, listedFew, message, part } from '../../base/message.ts'
import { hashOf } from '../../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { kindOf } from '../../fleet/facts/object-table.ts'
import { objectPart, quoted } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { CAPSULE_LABEL, capsuleLabelOf, capsuleReferenceOf } from '../../fleet/tenancy/capsule.ts'
import { at, canonical, isTrue, originAt, type Path, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { textMapOf } from '../../kube/read-fields.ts'
import { type Rule, type RuleContext, Subject, serverWords, type Violation } from '../model/rule.ts'
import { deletedObjects } from '../ownership/deletions.ts'
import { type CapsuleRefusal, goMatches } from './allow-lists.ts'
import {
  capsuleRoleOf,
  capsuleSettings,
  isCapsuleUser,
  namesOf,
  TENANT,
  tenantsOwnedBy,
  webhookVersion,
} from './capsule-users.ts'
import { refusedFields } from './refused-fields.ts'

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
  checkNode: cordonedChanges,
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

/** What the Tenant now refuses of an unchanged object does not block the Tenant's change. */
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
    ? [...refusalsOf(new Subject({ node, object: was }), tenant, { index: before, config: before.proposed() })]
    : []
  return known.some(one => one.value === refusal.value && one.words !== undefined) ? 'violation' : 'warning'
}

function violation(
  subject: Subject,
  tenant: KubeObject,
  { path, what, field, words, value, fix }: CapsuleRefusal,
  level: 'violation' | 'warning',
): Violation {
  const { node, who } = subject
  const { file, line } = originAt(tenant.root, ['spec', ...field])
  const limit = message`${part('field', field.map(String).join('.'))} of ${objectPart('Tenant', '', idOf(tenant).name)} (${part('path', `${file}:${line}`)})`
  return subject.violation(path, `${what} ${field.map(String).join('.')} ${value}`, {
    level,
    cause: hashOf(['capsule', node.cluster, idOf(tenant).name, ...field.map(String), value]),
    message: words
      ? message`${who}: Capsule refuses ${what}. Allowed: what ${limit} allows. Capsule: ${serverWords(words.replace(/\.$/, ''))}.`
      : message`${who}: whether Capsule refuses ${what} depends on a class that the fleet does not render. Allowed: what ${limit} allows.`,
    fix: fix ?? message`Change ${part('field', path.map(String).join('.'))} to a value that ${limit} allows.`,
  })
}

const isCordoned = (tenant: KubeObject | undefined): boolean => {
  const value = tenant && at(tenant.root, ['spec', 'cordoned'])
  return isTrue(value)
}

const MAX_SHOWN = 5

/** What stops working once a Tenant is cordoned. */
function* cordonedTenant(subject: Subject, index: FleetIndex): Iterable<Violation> {
  const { node, object, id } = subject
  if (!isCordoned(object)) return
  const namespaces = new Set(index.capsuleNamespacesOf(node.cluster, id.name))
  const homes = [...index.capsuleHomes(node.cluster).keys()]
  const nodes = [...new Set([...homes, ...namespaces])]
    .flatMap(namespace => index.nodesIn(node.cluster, namespace))
    .filter(one => index.objectsOf(one.key).some(object => namespaces.has(placeOf(object))))
  if (nodes.length === 0) return
  const names = nodes.map(one => objectPart('Kustomization', one.namespace, one.name))
  yield subject.violation(['spec', 'cordoned'], 'cordoned', {
    level: 'warning',
    message: message`Tenant ${quoted('object', id.name)} is cordoned. Capsule refuses what Flux applies in its namespaces, by ${listedFew(names, MAX_SHOWN)}. Allowed: changes by the platform.`,
    fix: message`Remove ${part('field', 'spec.cordoned')} when the tenant may change its namespaces again.`,
  })
}

const placeOf = (object: KubeObject): string => {
  const { kind, name, namespace } = idOf(object)
  return kind === 'Namespace' ? name : namespace
}

/** What a user of Capsule changes in a Tenant that was cordoned before and still is. */
function* cordonedChanges(node: FleetNode, context: RuleContext): Iterable<Violation> {
  const { index, before } = context
  if (node.tenant === undefined || !before) return
  const old = before.node(node.key) ? before.objectsOf(node.key) : []
  const refused = (object: KubeObject, operation: keyof typeof VERBS): Violation[] => {
    const tenant =
      index.capsuleTenantAt(node.cluster, placeOf(object)) ?? before.capsuleTenantAt(node.cluster, placeOf(object))
    const was = tenant && before.platformObject(node.cluster, TENANT, '', idOf(tenant).name)
    if (!isCordoned(tenant) || !isCordoned(was) || !isCapsuleUser(index, node.cluster, node.identity.user)) return []
    return [cordonViolation(node, object, tenant!, operation, webhookVersion(index, node.cluster))]
  }
  const texts = new Map(old.map(object => [keyOf(object), canonical(object.root)]))
  for (const object of index.objectsOf(node.key)) {
    if (index.capsuleTenantAt(node.cluster, placeOf(object)) === undefined) continue
    const text = texts.get(keyOf(object))
    if (text === canonical(object.root)) continue
    yield* refused(object, text === undefined ? 'CREATE' : 'UPDATE')
  }
  if (node.prune) for (const object of deletedObjects(node, old, index)) yield* refused(object, 'DELETE')
}

const keyOf = (object: KubeObject): string => {
  const { namespace, name } = idOf(object)
  return `${kindOf(object)} ${namespace}/${name}`
}

function cordonViolation(
  node: FleetNode,
  object: KubeObject,
  tenant: KubeObject,
  operation: keyof typeof VERBS,
  version: number,
): Violation {
  const id = idOf(object)
  const { name } = idOf(tenant)
  const { file, line } = originAt(tenant.root, ['spec', 'cordoned'])
  return new Subject({ node, object }).violation(['metadata', 'name'], `cordoned ${name} ${operation}`, {
    cause: hashOf(['cordoned', node.cluster, name]),
    message: message`${objectPart(id.kind, id.namespace, id.name)}: Capsule refuses to ${VERBS[operation]} it, because ${objectPart('Tenant', '', name)} is cordoned (${part('path', `${file}:${line}`)}). Allowed: changes by the platform. Capsule: ${serverWords(cordonWords(object, name, operation, version).replace(/\.$/, ''))}.`,
    fix: message`Ask a fleet admin to remove ${part('field', 'spec.cordoned')}, or wait until then.`,
  })
}

const VERBS = { CREATE: 'create', UPDATE: 'update', DELETE: 'delete' } as const

function cordonWords(object: KubeObject, tenant: string, operation: keyof typeof VERBS, version: number): string {
  const { apiVersion, kind, namespace, name } = idOf(object)
  if (kind === 'Namespace') {
    if (version < 13) return 'the selected Tenant is freezed'
    return version === 13 ? 'the selected Tenant is cordoned' : 'the selected tenant is cordoned'
  }
  if (version < 13) return `tenant ${tenant} is freezed: please, reach out to the system administrator`
  const ofApi = apiVersion.split('/').at(-1)
  return `The current namespace '${namespace}' is cordoned. The attempted operation ${operation} for ${groupOf(apiVersion)}/${ofApi}/${kind}/${name} is not permitted during cordoning status.`
}

/** What Capsule refuses of a Namespace that its Tenant does not have yet (internal/webhook/namespace of Capsule). */
function* refusedNamespace(
  subject: Subject,
  tenant: KubeObject,
  version: number,
  context: RuleContext,
): Iterable<CapsuleRefusal> {
  const { id, node } = subject
  if (context.before && context.before.versionsOf(node.cluster, '/Namespace', '', id.name).length > 0) return
  if (!isAsked(subject, context)) return yield* refusedStranger(subject, context)
  const unassigned = refusedChoice(subject, version, context)
  if (unassigned) return yield unassigned
  const base = { path: ['metadata', 'name'], what: 'it' as const, value: id.name }
  const prefix = refusedName(subject, tenant, version, context)
  if (prefix) yield { ...base, ...prefix }
  const words = refusedQuota(subject, tenant, context)
  if (words) yield { ...base, field: QUOTA, words }
  // checked on the object as Capsule has completed it
  for (const [part, kind] of version < 13 ? [] : PARTS) {
    const required = textMapOf(at(tenant.root, ['spec', 'namespaceOptions', 'requiredMetadata', part])) ?? []
    const given = textMapOf(at(tenant.root, ['spec', 'namespaceOptions', 'additionalMetadata', part])) ?? new Map()
    const written = textMapOf(subject.at(['metadata', part])) ?? new Map()
    for (const [key, pattern] of required) {
      const value = written.get(key) ?? given.get(key)
      if (value !== undefined && goMatches(value, pattern) !== false) continue
      const field = ['namespaceOptions', 'requiredMetadata', part]
      const words =
        value === undefined
          ? `required ${kind} ${JSON.stringify(key)} not present`
          : `required ${kind} ${JSON.stringify(key)} value ${JSON.stringify(value)} does not match regex ${JSON.stringify(pattern)}`
      const path: Path = value === undefined ? ['metadata', 'name'] : ['metadata', part, key]
      yield { ...base, path, field, words, value: key }
    }
  }
}

/** A tenant's account that Capsule does not check must not name the Tenant in a Namespace either. */
function* refusedStranger({ node, object }: Subject, { index }: RuleContext): Iterable<CapsuleRefusal> {
  const words = node.tenant === undefined ? undefined : namespaceAnswer(index, node, object)
  if (words === undefined) return
  const fix = message`List the account in ${part('field', 'spec.userGroups')} of the CapsuleConfiguration.`
  yield { path: ['metadata', 'name'], what: 'it', field: ['owners'], words, value: 'not a user of Capsule', fix }
}

/** An owner of several Tenants names one by label, or by prefix where Capsule forces it or since 0.13. */
function refusedChoice(
  { id, node, object }: Subject,
  version: number,
  { index, before }: RuleContext,
): CapsuleRefusal | undefined {
  // an existing one keeps its Tenant
  if (!before) return undefined
  const names = namesOf(tenantsOwnedBy(index, node.cluster, node.identity))
  if (names.length < 2 || capsuleLabelOf(object)) return undefined
  const { forcesPrefix } = index.capsule(node.cluster).configuration
  if ((forcesPrefix || version >= 13) && names.some(name => id.name.startsWith(`${name}-`))) return undefined
  const words = forcesPrefix
    ? "The Namespace prefix used doesn't match any available Tenant"
    : `Unable to assign namespace to tenant. Please use ${CAPSULE_LABEL} label when creating a namespace`
  const label = part('field', `metadata.labels["${CAPSULE_LABEL}"]`)
  const fix = message`Set ${label} to one of ${listed(names.map(name => quoted('object', name)))}.`
  return { path: ['metadata', 'name'], what: 'it', field: ['owners'], words, value: 'no Tenant', fix }
}

const PARTS = [
  ['labels', 'label'],
  ['annotations', 'annotation'],
] as const
const QUOTA = ['namespaceOptions', 'quota']

/** Whether Capsule checks the request: the account is one of its users or administrators. */
function isAsked({ node, id }: Subject, { index }: RuleContext): boolean {
  const { user } = node.identity
  // the rule namespace-ownership reports one that does not belong to the tenant
  if (node.tenant !== undefined && !index.owns(node.cluster, node.tenant, id.name)) return false
  const role = capsuleRoleOf(index, node.cluster, user)
  return role === 'administrator' || (role === 'user' && node.tenant !== undefined)
}

function refusedName({ id, node, object }: Subject, tenant: KubeObject, version: number, { index }: RuleContext) {
  const { name } = idOf(tenant)
  const settings = capsuleSettings(index, node.cluster)
  const values = (field: string) => settings.map(({ rendered, path }) => at(rendered.object.root, [...path, field]))
  const own = at(tenant.root, ['spec', 'forceTenantPrefix'])
  const isForcedHere = own ? isTrue(own) : values('forceTenantPrefix').some(isTrue)
  // before 0.13 a Tenant's own setting counts only for a Namespace without a label
  const isFirst = version >= 13 ? isForcedHere : isTrue(own) && capsuleLabelOf(object) === undefined
  const isLater = isForcedHere && values('forceTenantPrefix').some(isTrue)
  if ((isFirst || isLater) && !id.name.startsWith(`${name}-`)) {
    const words = isFirst
      ? `The Namespace name must start with '${name}-' when ForceTenantPrefix is enabled in the Tenant.`
      : `The namespace doesn't match the tenant prefix, expected ${name}-${id.name}`
    return { field: ['forceTenantPrefix'], words }
  }
  const patterns = settings.flatMap(({ rendered, path }) => stringAt(rendered.object.root, [...path, PROTECTED]) ?? [])
  const matched = patterns.find(pattern => pattern !== '' && goMatches(id.name, pattern) !== false)
  if (matched === undefined) return undefined
  const words = `Creating namespaces with name matching ${matched} regexp is not allowed; please, reach out to the system administrators`
  return { field: [PROTECTED], words }
}

/** A field of the CapsuleConfiguration. */
const PROTECTED = 'protectedNamespaceRegex'

/** A Tenant counts its namespaces when one is created: Flux removes others only after it has applied the new ones. */
function refusedQuota({ id, node }: Subject, tenant: KubeObject, { index, before }: RuleContext): string | undefined {
  const { name } = idOf(tenant)
  const quota = at(tenant.root, ['spec', ...QUOTA])
  if (quota?.type !== 'scalar' || typeof quota.value !== 'number') return undefined
  const had = before?.capsuleNamespacesOf(node.cluster, name) ?? []
  const added = index.capsuleNamespacesOf(node.cluster, name).filter(one => !had.includes(one))
  const place = had.length + added.indexOf(id.name)
  return place >= quota.value
    ? 'Cannot exceed Namespace quota: please, reach out to the system administrators'
    : undefined
}

/** How a Namespace names a Tenant. */
const namesIn = (namespace: KubeObject) => ({
  label: stringAt(namespace.root, ['metadata', 'labels', CAPSULE_LABEL]) || undefined,
  reference: capsuleReferenceOf(namespace),
})

/**
 * Capsule's words where, since 0.13, its webhook refuses a node a Namespace that names a Tenant
 * (internal/webhook/namespace/validation of Capsule): only administrators and Capsule's users may write one. `known`:
 * the Namespace before a change.
 */
export function namespaceAnswer(index: FleetIndex, node: FleetNode, object: KubeObject, known?: KubeObject) {
  const { label, reference } = namesIn(object)
  const { label: oldLabel, reference: oldReference } = known ? namesIn(known) : {}
  const [is, was] = [label ?? reference, oldLabel ?? oldReference]
  if (is === undefined && was === undefined) return undefined
  const { version = 0 } = index.capsule(node.cluster)
  if (version < 13 || capsuleRoleOf(index, node.cluster, node.identity.user)) return undefined
  if (is === undefined) return 'namespace can not remove tenant ownership'
  if (known && was === undefined) return 'namespace can not be patched into a tenant'
  if (reference === undefined) return `namespace has tenant label ${JSON.stringify(label)} but no Tenant ownerReference`
  if (label === undefined) return `namespace has Tenant ownerReference ${JSON.stringify(reference)} but no tenant label`
  if (label !== reference)
    return `namespace label ${JSON.stringify(label)} does not match owner reference ${JSON.stringify(reference)}`
  if (known === undefined) return 'only tenant owners can create tenant-owned namespaces'
  return is === was ? undefined : 'namespace can not be migrated between tenants'
}
