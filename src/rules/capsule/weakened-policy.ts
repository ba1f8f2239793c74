import { message, part } from '../../base/message.ts'
import { objectPart, quoted } from '../../fleet/facts/shown.ts'
import { ROOT_NAMESPACE } from '../../kube/flux-kinds.ts'
import { at, canonical, entriesOf, isEmpty, type Node, type Path, stringAt } from '../../kube/node.ts'
import { accountOf } from '../../kube/rbac/policy-rule.ts'
import { listAt, textsAt } from '../model/object-values.ts'
import type { FindingLevel, Rule, Subject, Violation } from '../model/rule.ts'
import { CONFIGURATION, TENANT, webhookVersion } from './capsule-users.ts'

/** Before v1beta2, annotations limited Tenants. */
const ANNOTATIONS = 'capsule.clastix.io/'
const MAX_SHOWN = 80

/** A change keeps the limits that Capsule sets. */
export const capsulePolicyWeakened: Rule = {
  id: 'capsule-policy-weakened',
  severity: 'high',
  title: 'Weakened Capsule policy',
  why: 'The owner of a Capsule Tenant is admin of its namespaces. Only the fields of the Tenant and of the CapsuleConfiguration separate that owner from other tenants and from the nodes.',
  source: 'GHSA-gjw4-3v3v-rqxg; Capsule: api/v1beta2',
  docs: 'Weaken a limit in a separate change and waive the rule for it. A weaker limit that separates tenants (networks, nodes, hostnames, namespace labels, classes, registries) is a violation. A higher quota or limit is a warning.',
  kinds: [TENANT, CONFIGURATION],
  *checkObject(subject, { index, before }) {
    const { id, kind, node } = subject
    const was = node.tenant === undefined ? before?.platformObject(node.cluster, kind, '', id.name) : undefined
    if (!was) return
    const users = webhookVersion(index, node.cluster) >= 12 ? subject.at(['spec', 'users']) : undefined
    for (const { path, limit, level } of kind === TENANT ? TENANT_FIELDS : CONFIGURATION_FIELDS) {
      const [old, young] = [at(was.root, path), subject.at(path)]
      if (limit(old, young, users)) yield violation(subject, path, old, young, levelOf(level, old))
    }
    for (const [key, value] of entriesOf(at(was.root, ['metadata', 'annotations']))) {
      if (!key.startsWith(ANNOTATIONS) || !/\/(forbidden-|allowed-|enable-|available-|deny-)/.test(key)) continue
      const path = ['metadata', 'annotations', key]
      const now = subject.at(path)
      if (!now || canonical(now) !== canonical(value)) yield violation(subject, path, value, now, 'violation')
    }
  },
}

/** Pod Security labels that Capsule sets on namespaces restrict pods, whatever field they are in. */
function levelOf(level: FindingLevel, old: Node | undefined): FindingLevel {
  return old && canonical(old).includes('pod-security.kubernetes.io/enforce') ? 'violation' : level
}

function violation(
  subject: Subject,
  path: Path,
  old: Node | undefined,
  young: Node | undefined,
  level: FindingLevel,
): Violation {
  const { id } = subject
  const text = (value: Node | undefined) => (value ? canonical(value) : 'nothing')
  const shownValue = (value: Node | undefined) =>
    value
      ? quoted('value', (value.type === 'scalar' ? String(value.value) : canonical(value)).slice(0, MAX_SHOWN))
      : message`nothing`
  const field = path.slice(path[0] === 'spec' ? 1 : 2).join('.')
  return subject.violation(path, `${text(old)} to ${text(young)}`, {
    level,
    message: message`${objectPart(id.kind, '', id.name)} weakens ${quoted('field', field)}: from ${shownValue(old)} to ${shownValue(young)}. Allowed: the previous value or a stricter one. Capsule accepts it.`,
    fix: message`Restore the previous value of ${part('field', field)}. To keep the change, waive the rule for this ${part('value', id.kind)} or merge with an override.`,
  })
}

/** A field by which Capsule limits what owners of a Tenant may do. */
interface PolicyField {
  readonly path: readonly string[]
  readonly limit: Limit
  /** `violation`: it separates tenants. `warning`: it only limits how much they may have. */
  readonly level: FindingLevel
}

const field = (path: string, limit: Limit, level: FindingLevel): PolicyField => ({
  path: ['spec', ...path.split('.')],
  limit,
  level,
})
/** Flux's own accounts are cluster-admin and no users of Capsule, so that being its administrators gives them nothing. */
const withoutFlux = (list: Node | undefined): Node | undefined =>
  list?.type === 'list'
    ? {
        ...list,
        items: list.items.filter(item => accountOf(stringAt(item, ['name']) ?? '')?.namespace !== ROOT_NAMESPACE),
      }
    : list

const isolates = (path: string, limit: Limit) => field(path, limit, 'violation')
const limits = (path: string, limit: Limit) => field(path, limit, 'warning')
const COLLISIONS = ['Disabled', 'Namespace', 'Tenant', 'Cluster']

/** A list of what is forbidden: it weakens by fewer entries or another pattern. */
const forbids: Limit = (was, is) => {
  const now = new Set(elements(is))
  return elements(was).some(element => !now.has(element))
}

/** A map whose entries must stay and keep their values, at any depth; lists as keepsItems. */
const keepsEntries: Limit = (was, is) => {
  if (was?.type === 'map') return [...was.fields].some(([key, { value }]) => keepsEntries(value, at(is, [key])))
  if (was?.type === 'list') return keepsItems(was, is)
  return was !== undefined && !isEmpty(was) && (is === undefined || canonical(was) !== canonical(is))
}

/** A list whose items must stay unchanged. */
const keepsItems: Limit = (was, is) => {
  const now = new Set(is?.type === 'list' ? is.items.map(canonical) : [])
  return was?.type === 'list' && was.items.some(item => !now.has(canonical(item)))
}

/** A number, or a quantity, that must not rise. */
const atMost: Limit = (was, is) => {
  if (isEmpty(was)) return false
  const [before, now] = [readQuantity(was), readQuantity(is)]
  return before === undefined || now === undefined ? !is || canonical(was!) !== canonical(is) : now > before
}

const FORM = /^([0-9]{1,18}(?:\.[0-9]{1,9})?)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/
const UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['m', 1e-3],
  ...['k', 'M', 'G', 'T', 'P', 'E'].map((unit, index): [string, number] => [unit, 1000 ** (index + 1)]),
  ...['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((unit, index): [string, number] => [unit, 1024 ** (index + 1)]),
])

/** A list of what is allowed: it weakens by more entries, another pattern, or removal. */
const allows: Limit = (was, is) => {
  if (isEmpty(was)) return false
  if (isEmpty(is)) return true
  const before = new Set(elements(was))
  return elements(is).some(element => !before.has(element))
}

/** One of `order`, the loosest first; `absent` is the value in force where none is set. */
const notBelow =
  (order: readonly string[], absent: string): Limit =>
  (was, is) => {
    const rank = (node: Node | undefined) => order.indexOf(node?.type === 'scalar' ? String(node.value) : absent)
    return rank(is) < rank(was)
  }

/** A switch that must stay `safe`; `absent` is the value in force where none is set. */
const stays =
  (safe: boolean, absent: boolean): Limit =>
  (was, is) =>
    flag(was, absent) === safe && flag(is, absent) !== safe

/** Quotas by their order: each `hard` as atMost. */
const quotas: Limit = (was, is) => {
  if (was?.type !== 'list') return false
  return was.items.some((item, index) => {
    const hard = at(item, ['hard'])
    if (hard?.type !== 'map') return false
    return [...hard.fields].some(([key, { value }]) => atMost(value, at(is, [index, 'hard', key])))
  })
}

/** Fields of a Tenant (api/v1beta2/tenant_types.go of Capsule, and where older versions had them). */
const TENANT_FIELDS: readonly PolicyField[] = [
  isolates('namespaceOptions.forbiddenLabels', forbids),
  isolates('namespaceOptions.forbiddenAnnotations', forbids),
  limits('namespaceOptions.requiredMetadata', keepsEntries),
  limits('namespaceOptions.additionalMetadata', keepsEntries),
  limits('namespaceOptions.additionalMetadataList', keepsItems),
  limits('namespaceOptions.quota', atMost),
  limits('namespaceQuota', atMost),
  isolates('networkPolicies', keepsEntries),
  isolates('nodeSelector', keepsEntries),
  isolates('rules', keepsItems),
  isolates('containerRegistries', allows),
  isolates('priorityClasses', allows),
  isolates('runtimeClasses', allows),
  isolates('ingressOptions.allowedHostnames', allows),
  isolates('ingressHostnames', allows),
  isolates('ingressOptions.hostnameCollisionScope', notBelow(COLLISIONS, 'Disabled')),
  isolates('ingressOptions.allowWildcardHostnames', stays(false, false)),
  isolates('serviceOptions.externalIPs', allows),
  isolates('serviceOptions.externalServiceIPs', allows),
  isolates('serviceOptions.allowedServices.externalName', stays(false, true)),
  limits('serviceOptions.allowedServices.nodePort', stays(false, true)),
  limits('serviceOptions.allowedServices.loadBalancer', stays(false, true)),
  limits('serviceOptions.forbiddenLabels', forbids),
  limits('serviceOptions.forbiddenAnnotations', forbids),
  limits('ingressOptions.allowedClasses', allows),
  limits('gatewayOptions.allowedClasses', allows),
  limits('storageClasses', allows),
  limits('deviceClasses', allows),
  limits('imagePullPolicies', allows),
  limits('podOptions', keepsEntries),
  limits('resourceQuotas.items', quotas),
  limits('resourceQuotas.scope', notBelow(['Namespace', 'Tenant'], 'Tenant')),
  limits('limitRanges', keepsEntries),
  limits('forceTenantPrefix', stays(true, false)),
  limits('cordoned', stays(true, false)),
  limits('preventDeletion', stays(true, false)),
]

const namesOf = (users: Node | undefined, kind: string) =>
  listAt(users, []).flatMap(item => (stringAt(item, ['kind']) === kind ? (stringAt(item, ['name']) ?? []) : []))

/** Groups of people; the rule capsule-group-missing reports those of accounts that own a Tenant. */
const keepsGroups: Limit = (was, is, users) => {
  const now = new Set([...textsAt(is, []), ...namesOf(users, 'Group')])
  return textsAt(was, []).some(group => !now.has(group) && !group.startsWith('system:serviceaccounts:'))
}

/** The same for `users`; accounts and their groups may be removed with their tenant. */
const keepsUsers: Limit = (was, is) => {
  const isAccount = (item: Node) => /^system:serviceaccounts?:/.test(stringAt(item, ['name']) ?? '')
  const now = new Set(listAt(is, []).map(canonical))
  return listAt(was, []).some(item => !now.has(canonical(item)) && !isAccount(item))
}

const keepsNames: Limit = (was, is, users) => {
  const now = new Set([...textsAt(is, []), ...namesOf(users, 'User')])
  return textsAt(was, []).some(name => !now.has(name) && !name.startsWith('system:serviceaccount:'))
}

/** A ClusterRole that Capsule binds for all of its users; `usual` is Capsule's default. */
const keepsRole =
  (usual: string): Limit =>
  (was, is) =>
    textOf(is, usual) !== textOf(was, usual) && textOf(is, usual) !== usual

/** ClusterRoles for accounts that become owners; `usual` are the defaults. */
const noMoreRoles =
  (...usual: readonly string[]): Limit =>
  (was, is) => {
    const before = new Set(was?.type === 'list' ? textsAt(was, []) : usual)
    return textsAt(is, []).some(role => !before.has(role) && !usual.includes(role))
  }

const textOf = (node: Node | undefined, absent: string): string =>
  node?.type === 'scalar' && node.value !== null && node.value !== '' ? String(node.value) : absent

const [PROVISIONER, DELETER] = ['capsule-namespace-provisioner', 'capsule-namespace-deleter'] as const

/** Fields of the CapsuleConfiguration (api/v1beta2/capsuleconfiguration_types.go). */
const CONFIGURATION_FIELDS: readonly PolicyField[] = [
  isolates('protectedNamespaceRegex', keepsEntries),
  isolates('nodeMetadata.forbiddenLabels', forbids),
  isolates('nodeMetadata.forbiddenAnnotations', forbids),
  isolates('userGroups', keepsGroups),
  isolates('userNames', keepsNames),
  isolates('users', keepsUsers),
  isolates('ignoreUserWithGroups', (was, is) => forbids(is, was)),
  isolates('administrators', (was, is) => keepsItems(withoutFlux(is), was)),
  isolates('allowServiceAccountPromotion', stays(false, false)),
  isolates('allowTenantIngressHostnamesCollision', stays(false, false)),
  isolates('allowIngressHostnameCollision', stays(false, false)),
  isolates('rbac.provisioner', keepsRole(PROVISIONER)),
  isolates('rbac.deleter', keepsRole(DELETER)),
  isolates('rbac.promotionClusterRoles', noMoreRoles(PROVISIONER, DELETER)),
  isolates('rbac.administrationClusterRoles', noMoreRoles(DELETER)),
  isolates('impersonation', keepsEntries),
  isolates('impersonation.skipTlsVerify', stays(false, false)),
  isolates('admission', keepsEntries),
  limits('overrides', keepsEntries),
  limits('forceTenantPrefix', stays(true, false)),
]

/**
 * How a field of Capsule limits something; `was` and `is` are its values before and after a change, `users` is the list
 * that replaced older ones, where Capsule reads it.
 */
type Limit = (was: Node | undefined, is: Node | undefined, users?: Node) => boolean

function flag(node: Node | undefined, absent: boolean): boolean {
  return node?.type === 'scalar' && typeof node.value === 'boolean' ? node.value : absent
}

/** The elements of a list or of `{allowed, allowedRegex, denied, ...}`: each element, pattern and label. */
function elements(node: Node | undefined): string[] {
  if (isEmpty(node) || !node) return []
  if (node.type === 'scalar') return [String(node.value)]
  if (node.type === 'list') return node.items.map(canonical)
  return [...node.fields].flatMap(([key, { value }]) => {
    // a default widens nothing: it applies only where no value is set
    if (key === 'default' || isEmpty(value)) return []
    if (value.type === 'list') return textsAt(value, []).map(text => `item ${text}`)
    return [`${key} ${canonical(value)}`]
  })
}

/** A Kubernetes quantity as a number; undefined for other spellings, which are only compared as text. */
function readQuantity(node: Node | undefined): number | undefined {
  if (node?.type !== 'scalar') return undefined
  const [, digits, unit = ''] = FORM.exec(String(node.value)) ?? []
  return digits === undefined ? undefined : Number(digits) * UNITS.get(unit)!
}
