import { quoted } from '../../../facts/shown.ts'
import type { Subject } from '../../../facts/subject.ts'
import { CAPSULE_LABEL, capsuleLabelOf } from '../../../fleet/tenancy/capsule.ts'
import { at, isTrue, type Path, stringAt } from '../../../kube/node.ts'
import { idOf, type KubeObject } from '../../../kube/object.ts'
import { textMapOf } from '../../../kube/read-text.ts'
import { listed, message, part } from '../../../message/message.ts'
import type { RuleContext } from '../../model/rule.ts'
import { goMatches } from './capsule-list.ts'
import { capsuleRoleOf, capsuleSettings } from './capsule-settings.ts'
import { namesOf, tenantsOwnedBy } from './capsule-tenants.ts'
import { namespaceAnswer } from './namespace-answer.ts'
import type { CapsuleRefusal } from './refused-class.ts'

/** What Capsule's webhooks refuse of a Namespace that its Tenant does not have yet (internal/webhook/namespace of Capsule). */
export function* refusedNamespace(
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
    const written = textMapOf(at(subject.object.root, ['metadata', part])) ?? new Map()
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

/** The account of a tenant whom Capsule does not look at may not name the Tenant all the same. */
function* refusedStranger({ node, object }: Subject, { index }: RuleContext): Iterable<CapsuleRefusal> {
  const words = node.tenant === undefined ? undefined : namespaceAnswer(index, node, object)
  if (words === undefined) return
  const fix = message`List the account in ${part('field', 'spec.userGroups')} of the CapsuleConfiguration.`
  yield { path: ['metadata', 'name'], what: 'it', field: ['owners'], words, value: 'not a user of Capsule', fix }
}

/** An owner of several Tenants says which, by the label, or by the prefix where that is forced or since 0.13. */
function refusedChoice(
  { id, node, object }: Subject,
  version: number,
  { index, before }: RuleContext,
): CapsuleRefusal | undefined {
  // one that is there keeps its Tenant
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

/** Whether Capsule looks at the request: the account is a user of it, or one of its administrators. */
function isAsked({ node, id }: Subject, { index }: RuleContext): boolean {
  const { user } = node.identity
  // one that is not the tenant's is the rule namespace-ownership's
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
  // before 0.13 a Tenant's own word counts only for a Namespace without a label
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

/**
 * A Tenant counts the namespaces that it has when one is created: Flux removes others only after it applied the new ones.
 */
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
