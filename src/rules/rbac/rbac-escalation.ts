import type { FleetIndex } from '../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { originAt } from '../../kube/node.ts'
import { RBAC_GROUP } from '../../kube/rbac/binding.ts'
import { compactString } from '../../kube/rbac/policy-rule.ts'
import { readBinding } from '../../kube/rbac/read-binding.ts'
import { message, part, untyped } from '../../message/message.ts'
import { serverWords } from '../model/api-refusal.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { type Danger, dangersOf } from './support/dangerous-rights.ts'
import { givenEscalation } from './support/given-escalation.ts'
import { writtenRules } from './support/written-rules.ts'

/** Roles of Kubernetes itself that are meant to be bound in a namespace. */
const FOR_PEOPLE = ['admin', 'edit', 'view']

/** A tenant's roles and bindings hand nobody more than the tenant was given. */
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
  const found = subject.id.kind === 'RoleBinding' ? evaluateBinding(index, subject) : evaluateRole(subject)
  let blocks = false
  for (const violation of found) {
    blocks ||= violation.level !== 'warning'
    yield violation
  }
  const refusal = blocks ? undefined : index.grantRefusal(subject.node, subject.object)
  if (refusal) yield refused(subject, refusal.message)
}

function* evaluateRole({ node, object, id }: Subject): Iterable<Violation> {
  const isWide = id.kind === 'ClusterRole'
  for (const { at, rule } of writtenRules(object)) {
    for (const { danger, what } of strongest(dangersOf(rule), isWide)) {
      yield {
        node,
        object,
        // A rule has no name: it stays the same violation while only other parts of it change.
        path: ['rules'],
        origin: originAt(object.root, ['rules', at]),
        value: danger.escapes ? what : `${danger.what} ${compactString(rule)}`,
        message: message`${objectPart(id.kind, id.namespace, id.name)} allows ${quoted('value', what)}: ${untyped(danger.why)}. Allowed: rules without this right.`,
        fix: message`Remove the right from the rule, and list the required verbs and resources one by one.`,
        ...levelOf(danger, isWide),
      }
    }
  }
}

/** A star of a ClusterRole counts as much as what it includes: whoever binds it anywhere gets all of it. */
function levelOf({ escapes }: Danger, isWide: boolean): Pick<Violation, 'level' | 'severity'> {
  return escapes || isWide ? {} : { level: 'warning', severity: 'high' }
}

/**
 * What blocks, or else what warns: one finding for a rule. `what` names all that block, so that a danger which is added to
 * a standing one is another violation.
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
 * The step that completes it: a role of somebody else is harmless while nobody is bound to it. The stars of a Role of the
 * namespace are told of where they are written; a tenant who is cluster-admin in a namespace may hand that on in it.
 */
function* evaluateBinding(index: FleetIndex, { node, object, id }: Subject): Iterable<Violation> {
  const binding = readBinding(object)
  if (!binding) return
  const { kind, name } = binding.roleRef
  const isWide = kind === 'ClusterRole'
  if (isWide && FOR_PEOPLE.includes(name)) return
  const rules = index.roleRules(node.cluster, binding.roleRef, binding.namespace) ?? []
  const dangers = rules.flatMap(dangersOf).filter(danger => danger.escapes || isWide)
  const isWild = (danger: Danger) => danger.what.startsWith('*')
  const danger = dangers.find(one => one.escapes) ?? dangers.find(isWild) ?? dangers[0]
  if (!danger) return
  const warns = name === 'cluster-admin' || (!danger.escapes && !isWild(danger))
  yield {
    node,
    object,
    path: ['roleRef'],
    value: `${kind} ${name}: ${[...new Set(dangers.map(one => one.what))].sort().join(', ')}`,
    message: message`${objectPart(id.kind, id.namespace, id.name)} binds to ${part('object', kind)} ${quoted('object', name)}, which allows ${quoted('value', danger.what)}: ${untyped(danger.why)}. Allowed: roles without this right.`,
    fix: message`Set roleRef to a Role of the namespace with the required rules, or to the ClusterRole view, edit or admin.`,
    ...(warns ? { level: 'warning' as const, severity: 'high' as const } : {}),
  }
}

function refused({ node, object, id }: Subject, answer: string): Violation {
  const path = id.kind === 'RoleBinding' ? ['roleRef'] : ['rules']
  return {
    node,
    object,
    path,
    value: answer,
    message: message`${objectPart(id.kind, id.namespace, id.name)} grants rights that ${part('identity', node.identity.user)} does not have. Allowed: rights of that account. API server: ${serverWords(answer)}`,
    fix: message`Remove the rights that the applying account does not have, or ask a fleet admin to render this object.`,
  }
}
