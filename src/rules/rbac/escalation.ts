import { capital, message, part } from '../../base/message.ts'
import type { Origin } from '../../base/origin.ts'
import { excessRights } from '../../fleet/facts/cluster-rights.ts'
import { hashOf, lostCause, objectCause, placeText } from '../../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { objectPart, quoted } from '../../fleet/facts/shown.ts'
import { at, type Node, originAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { type Binding, type BoundSubject, displayRbac, RBAC_GROUP, readBinding } from '../../kube/rbac/binding.ts'
import { compactString, type PolicyRule } from '../../kube/rbac/policy-rule.ts'
import { type Rule, type RuleContext, type Subject, serverWords, type Violation } from '../model/rule.ts'
import { declaredOwner, ownerOfSubject, subjectText } from './binding-subjects.ts'

/** Kubernetes' own roles that are meant to be bound in a namespace. */
const FOR_PEOPLE = ['admin', 'edit', 'view']

/** A tenant's roles and bindings give no more rights than the tenant has. */
export const rbacEscalation: Rule = {
  id: 'rbac-escalation',
  severity: 'critical',
  title: 'RBAC privilege escalation',
  why: 'The verbs `bind`, `escalate` and `impersonate` grant more rights than the role lists. So do write access to the Namespace itself and `nodes/proxy`. `*` includes all of them. The role and its binding can come from different changes.',
  source: 'https://kubernetes.io/docs/concepts/security/rbac-good-practices/; GHSA-2ww6-hf35-mfjm',
  docs: 'List verbs and resources one by one, without `bind`, `escalate`, `impersonate`, `namespaces`, `namespaces/status`, `namespaces/finalize` and `nodes/proxy`. Ask a fleet admin to grant rights over other accounts.',
  kinds: ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'].map(kind => `${RBAC_GROUP}/${kind}`),
  *checkObject(subject, context) {
    if (subject.node.tenant === undefined) yield* givenEscalation(context, subject)
    else if (subject.id.kind !== 'ClusterRoleBinding') yield* evaluateTenant(context, subject)
  },
}

function* evaluateTenant({ index }: RuleContext, subject: Subject): Iterable<Violation> {
  const isBinding = subject.id.kind === 'RoleBinding'
  const found = [...(isBinding ? evaluateBinding(index, subject) : evaluateRole(subject))]
  const blocks = found.some(({ level }) => level !== 'warning')
  const refusal = blocks ? undefined : index.grantRefusal(subject.node, subject.object)
  // what else the role of a refused binding allows is the same cause
  if (!refusal || !isBinding) yield* found
  if (refusal) yield refused(subject, refusal.message)
}

function* evaluateRole(subject: Subject): Iterable<Violation> {
  const { object, id } = subject
  const isWide = id.kind === 'ClusterRole'
  for (const { at, rule } of writtenRules(object)) {
    for (const { danger, what } of strongest(dangersOf(rule), isWide)) {
      // a rule has no name: it stays the same violation while only other parts of it change
      const value = danger.escapes ? what : `${danger.what} ${compactString(rule)}`
      yield subject.violation(['rules'], value, {
        origin: originAt(object.root, ['rules', at]),
        message: message`${subject.who} allows ${quoted('value', what)}. ${capital(danger.why)}. Allowed: rules without this right.`,
        fix: message`Remove the right from the rule, and list the required verbs and resources one by one.`,
        ...levelOf(danger, isWide),
      })
    }
  }
}

/** A wildcard in a ClusterRole counts as all that it includes: a binding in any namespace gives all of it. */
function levelOf({ escapes }: Danger, isWide: boolean): Pick<Violation, 'level' | 'severity'> {
  return escapes || isWide ? {} : { level: 'warning', severity: 'high' }
}

/**
 * The dangers that block, or else those that warn: one finding for a rule. `what` names all that block, so a danger
 * added to an existing one is another violation.
 */
function strongest(
  dangers: readonly Danger[],
  isWide: boolean,
): readonly { readonly danger: Danger; readonly what: string }[] {
  const blocking = dangers.filter(danger => isWide || danger.escapes)
  const [danger] = blocking.length > 0 ? blocking : dangers
  if (!danger) return []
  const others = [...new Set(blocking.map(one => one.what))].filter(what => what !== danger.what).sort()
  return [{ danger, what: [danger.what, ...others].join(', ') }]
}

/**
 * The step that completes it: another owner's role is harmless until it is bound. Wildcards of a Role in the namespace
 * are reported where they are written; a tenant who is cluster-admin in a namespace may delegate that in it.
 */
function* evaluateBinding(index: FleetIndex, subject: Subject): Iterable<Violation> {
  const binding = readBinding(subject.object)
  if (!binding) return
  const { kind, name } = binding.roleRef
  const isWide = kind === 'ClusterRole'
  if (isWide && FOR_PEOPLE.includes(name)) return
  const rules = index.roleRules(subject.node.cluster, binding.roleRef, binding.namespace) ?? []
  const dangers = rules.flatMap(dangersOf).filter(danger => danger.escapes || isWide)
  const isWild = (danger: Danger) => danger.what.startsWith('*')
  const danger = dangers.find(one => one.escapes) ?? dangers.find(isWild) ?? dangers[0]
  if (!danger) return
  const warns = name === 'cluster-admin' || (!danger.escapes && !isWild(danger))
  const value = `${kind} ${name}: ${[...new Set(dangers.map(one => one.what))].sort().join(', ')}`
  yield subject.violation(['roleRef'], value, {
    message: message`${subject.who} binds to ${part('object', kind)} ${quoted('object', name)}, which allows ${quoted('value', danger.what)}. ${capital(danger.why)}. Allowed: roles without this right.`,
    fix: message`Set roleRef to a Role of the namespace with the required rules, or to the ClusterRole view, edit or admin.`,
    ...(warns ? { level: 'warning' as const, severity: 'high' as const } : {}),
  })
}

function refused(subject: Subject, answer: string): Violation {
  const path = subject.id.kind === 'RoleBinding' ? ['roleRef'] : ['rules']
  return subject.violation(path, answer, {
    message: message`${subject.who} grants rights that ${part('identity', subject.node.identity.user)} does not have. Allowed: rights of that account. The API server rejects this: ${serverWords(answer)}`,
    fix: message`Remove the rights that the applying account does not have, or ask a fleet admin to render this object.`,
  })
}

/**
 * What the platform gives a tenant's account by name, not by wildcard: to impersonate, bind and escalate, and to edit
 * Namespaces, in the whole cluster; in the tenant's own namespace only the parts of its Namespace.
 */
function* givenEscalation(context: RuleContext, subject: Subject): Iterable<Violation> {
  if (subject.id.kind === 'Role') yield* ofRole(context, subject)
  else if (subject.id.kind !== 'ClusterRole') yield* ofBinding(context, subject)
}

function* ofRole(context: RuleContext, subject: Subject): Iterable<Violation> {
  const { node, object, id } = subject
  if (declaredOwner(context, node.cluster, id.namespace) === undefined) return
  for (const { at, rule } of writtenRules(object)) {
    const danger = editsNamespaceParts(rule)
    if (!danger) continue
    yield subject.violation(['rules'], danger.what, {
      origin: originAt(object.root, ['rules', at]),
      message: message`${subject.who} lets accounts of a tenant ${quoted('value', danger.what)}. ${capital(danger.why)}. Allowed: rights on objects in the namespace.`,
      fix: message`Remove namespaces/status and namespaces/finalize from the rule.`,
    })
  }
}

function* ofBinding(context: RuleContext, subject: Subject): Iterable<Violation> {
  const { node, object, id } = subject
  const binding = readBinding(object)
  for (const [at, bound] of (binding?.subjects ?? []).entries()) {
    const found = escapeBy(context, node.cluster, binding!, bound)
    if (!found) continue
    const { danger, cause, origin } = found
    const { kind, name } = binding!.roleRef
    yield subject.violation(['subjects', at], `${subjectText(bound)} ${kind} ${name}: ${danger.what}`, {
      ...(origin ? { origin } : {}),
      cause,
      follows: [
        objectCause({ kind, namespace: kind === 'Role' ? id.namespace : '', name }),
        lostCause(bound.namespace || bound.name.split(':').at(-1)!),
      ],
      message: message`${objectPart(id.kind, binding!.namespace, id.name)} lets ${quoted('identity', subjectText(bound))}, of a tenant, ${quoted('value', danger.what)} by ${part('object', kind)} ${quoted('object', name)}. ${capital(danger.why)}. Allowed: impersonating the tenant's own account, limited by resourceNames.`,
      fix: origin
        ? message`Set resourceNames of the rule to the tenant's own account, or remove the rule.`
        : message`Remove ${quoted('identity', subjectText(bound))} from the subjects.`,
    })
  }
}

/** These roles are well known; sa-foreign reports where they may not be bound. */
const STANDARD = ['cluster-admin', 'admin', 'edit', 'view']

/** How an account of a tenant can exceed the tenant by a binding of the platform. */
interface Escape {
  readonly danger: Danger
  /** The rule of the role that is too much; undefined where the subject is: the role is right for another one, or not rendered. */
  readonly origin: Origin | undefined
  readonly cause: string
  /** The binding gives nothing else that is too much. */
  readonly isAll: boolean
}

export function escapeBy(
  context: RuleContext,
  cluster: string,
  binding: Binding,
  bound: BoundSubject,
): Escape | undefined {
  const excess = excessOf(context, cluster, binding, bound) ?? []
  const dangers = excess.map(rule =>
    binding.namespace === '' ? dangersOf(rule).find(danger => danger.escapes) : editsNamespaceParts(rule),
  )
  const place = dangers.findIndex(danger => danger !== undefined)
  const danger = dangers[place]
  if (!danger) return undefined
  const isMisplaced = binding.subjects.some(one => excessOf(context, cluster, binding, one)?.length === 0)
  const origin = isMisplaced ? undefined : placeOf(context, cluster, binding, excess[place]!)
  const cause = hashOf(['escape', origin ? placeText(origin) : displayRbac(binding), danger.what])
  return { danger, origin, cause, isAll: dangers.every(one => one !== undefined) }
}

/** The rules that are too much for a tenant's account; undefined for another subject. */
function excessOf(
  context: RuleContext,
  cluster: string,
  { roleRef, namespace }: Binding,
  bound: BoundSubject,
): readonly PolicyRule[] | undefined {
  const { index } = context
  const tenant = ownerOfSubject(context, cluster, bound)
  if (tenant === undefined || STANDARD.includes(roleRef.name)) return undefined
  const rules = index.roleRules(cluster, roleRef, namespace) ?? []
  return namespace === '' ? excessRights(rules, index.holder(cluster, tenant)) : rules
}

/** Where the fleet renders a rule of a role. */
function placeOf(
  { index }: RuleContext,
  cluster: string,
  { roleRef, namespace }: Binding,
  wanted: PolicyRule,
): Origin | undefined {
  const own = roleRef.kind === 'Role' ? namespace : ''
  const role = index.versionsOf(cluster, `${RBAC_GROUP}/${roleRef.kind}`, own, roleRef.name).at(-1)?.object
  const rule = role && writtenRules(role).find(one => compactString(one.rule) === compactString(wanted))
  return role && rule && originAt(role.root, ['rules', rule.at])
}

/** Why a rule grants too much. */
interface Danger {
  /** The dangerous part of the rule, for the violation's identity: `bind`, `impersonate users`, `wildcards`. */
  readonly what: string
  readonly why: string
  /** Whether its holder can exceed the granted rights; else it is only a warning. */
  readonly escapes: boolean
}

const has = (values: readonly string[], ...wanted: string[]) => values.some(one => wanted.includes(one))
const WRITES = ['create', 'update', 'patch', '*']

const INTO_PODS = [
  'pods/exec',
  'pods/attach',
  'pods/portforward',
  'pods/proxy',
  'pods/ephemeralcontainers',
  'services/proxy',
]
const INTO_ANY = ['*/exec', '*/attach', '*/portforward', '*/proxy', '*/ephemeralcontainers']

/** Checks of a rule, in this order; what `*` includes is only reported as `wildcards`. */
const CHECKS: readonly ((rule: PolicyRule) => Danger | undefined)[] = [
  escalates,
  impersonates,
  editsNamespaces,
  reachesNodes,
  makesTokens,
  entersPods,
  readsSecrets,
  isWild,
]

/**
 * What is dangerous about one rule of a role. Sources: the RBAC good practices of Kubernetes; for namespaces/status and
 * namespaces/finalize GHSA-2ww6-hf35-mfjm; the matching as in RuleAllows of the API server.
 */
export function dangersOf(rule: PolicyRule): Danger[] {
  return CHECKS.map(check => check(rule)).filter(danger => danger !== undefined)
}

function escalates({ verbs, apiGroups, resources }: PolicyRule): Danger | undefined {
  const found = verbs.filter(verb => verb === 'escalate' || verb === 'bind')
  if (found.length === 0 || !has(apiGroups, RBAC_GROUP, '*') || !has(resources, 'roles', 'clusterroles', '*'))
    return undefined
  return { what: found.sort().join(' '), why: 'a subject can grant rights that it does not have', escapes: true }
}

function impersonates({ verbs, apiGroups, resources }: PolicyRule): Danger | undefined {
  // since 1.35 also `impersonate:user-info`, `impersonate-on:serviceaccount:...`
  if (!verbs.some(verb => /^impersonate(-on)?(:|$)/.test(verb))) return undefined
  if (!has(apiGroups, '', 'authentication.k8s.io', '*')) return undefined
  const whom = resources.filter(one => /^(users|groups|serviceaccounts|uids|nodes|userextras(\/.*)?|\*)$/.test(one))
  if (whom.length === 0) return undefined
  return { what: `impersonate ${whom.sort().join(' ')}`, why: 'a subject can act as other accounts', escapes: true }
}

function editsNamespaces({ verbs, apiGroups, resources }: PolicyRule): Danger | undefined {
  if (!has(verbs, ...WRITES) || !has(apiGroups, '', '*')) return undefined
  const named = resources.filter(one => /^(namespaces(\/(status|finalize))?|\*\/(status|finalize))$/.test(one))
  if (named.length === 0) return undefined
  const why = 'a subject can change the Namespace, including its tenant and its Pod Security level'
  return { what: `write ${named.sort().join(' ')}`, why, escapes: true }
}

/** The same for the parts of a Namespace in RBAC: an account that manages its content does not need them. */
function editsNamespaceParts({ verbs, apiGroups, resources }: PolicyRule): Danger | undefined {
  const parts = resources.filter(one => /^namespaces\/(status|finalize)$/.test(one))
  return parts.length > 0
    ? editsNamespaces({ verbs, apiGroups, resources: parts, resourceNames: [], nonResourceURLs: [] })
    : undefined
}

function reachesNodes({ apiGroups, resources }: PolicyRule): Danger | undefined {
  if (!has(apiGroups, '', '*') || !has(resources, 'nodes/proxy')) return undefined
  return {
    what: 'nodes/proxy',
    why: 'it runs commands in every pod of a node, past admission and audit',
    escapes: true,
  }
}

function makesTokens({ verbs, apiGroups, resources }: PolicyRule): Danger | undefined {
  if (!has(verbs, 'create', '*') || !has(apiGroups, '', '*')) return undefined
  if (!has(resources, 'serviceaccounts/token', '*/token')) return undefined
  const why = 'a subject can create tokens of other accounts in the namespace, including the reconciler'
  return { what: 'create serviceaccounts/token', why, escapes: false }
}

function entersPods({ verbs, apiGroups, resources }: PolicyRule): Danger | undefined {
  if (!has(verbs, 'get', ...WRITES) || !has(apiGroups, '', '*')) return undefined
  const found = resources.filter(one => INTO_PODS.includes(one) || INTO_ANY.includes(one))
  if (found.length === 0) return undefined
  return {
    what: found.sort().join(' '),
    why: 'it runs commands in pods, with the tokens of their accounts',
    escapes: false,
  }
}

function readsSecrets({ verbs, apiGroups, resources, resourceNames }: PolicyRule): Danger | undefined {
  if (!has(verbs, 'get', 'list', 'watch', '*') || !has(apiGroups, '', '*') || !has(resources, 'secrets'))
    return undefined
  if (resourceNames.length > 0) return undefined
  const why = 'a subject can read every Secret of the namespace, including account tokens'
  return { what: 'read secrets', why, escapes: false }
}

function isWild({ verbs, apiGroups, resources }: PolicyRule): Danger | undefined {
  const isStar = (value: string) => value === '*' || value.startsWith('*/') || value.endsWith('/*')
  const stars = [
    ...(verbs.includes('*') ? ['verbs'] : []),
    ...(apiGroups.includes('*') ? ['apiGroups'] : []),
    ...(resources.some(isStar) ? ['resources'] : []),
  ]
  if (stars.length === 0) return undefined
  const why = '"*" includes impersonate, bind and escalate, and everything that is added later'
  return { what: `* in ${stars.join(', ')}`, why, escapes: false }
}

/** A rule as written, and its place in the list. */
interface WrittenRule {
  readonly at: number
  readonly rule: PolicyRule
}

/**
 * The rules of a Role or ClusterRole as written, read leniently: rules that the API server would refuse as a whole are
 * still read as far as possible, since another reader may accept them.
 */
export function writtenRules(object: KubeObject): WrittenRule[] {
  const list = at(object.root, ['rules'])
  if (list?.type !== 'list') return []
  return list.items.map((item, index) => ({
    at: index,
    rule: {
      verbs: texts(item, 'verbs'),
      apiGroups: texts(item, 'apiGroups'),
      resources: texts(item, 'resources'),
      resourceNames: texts(item, 'resourceNames'),
      nonResourceURLs: texts(item, 'nonResourceURLs'),
    },
  }))
}

function texts(item: Node, field: string): string[] {
  const found = at(item, [field])
  const nodes = found?.type === 'list' ? found.items : found ? [found] : []
  return nodes.flatMap(node => {
    if (node.type !== 'scalar') return []
    return [node.value === null ? '' : String(node.value)]
  })
}
