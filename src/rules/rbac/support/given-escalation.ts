import { excessRights } from '../../../facts/excess-rights.ts'
import { objectPart, quoted } from '../../../facts/shown.ts'
import type { Subject } from '../../../facts/subject.ts'
import { originAt } from '../../../kube/node.ts'
import { type Binding, RBAC_GROUP } from '../../../kube/rbac/binding.ts'
import { readBinding } from '../../../kube/rbac/read-binding.ts'
import { message, part, untyped } from '../../../message/message.ts'
import type { RuleContext, Violation } from '../../model/rule.ts'
import { type Danger, dangersOf, editsNamespaceParts } from './dangerous-rights.ts'
import { declaredOwner } from './declared-owner.ts'
import { reachOf, subjectText } from './subject-reach.ts'
import { writtenRules } from './written-rules.ts'

/**
 * What the platform itself gives to a tenant's account by name, not by a star: to be others, to bind and escalate, and to
 * edit Namespaces, in the whole cluster; in the tenant's own namespace only the parts of its Namespace.
 */
export function* givenEscalation(context: RuleContext, subject: Subject): Iterable<Violation> {
  if (subject.id.kind === 'Role') yield* ofRole(context, subject)
  else if (subject.id.kind !== 'ClusterRole') yield* ofBinding(context, subject)
}

function* ofRole(context: RuleContext, { node, object, id }: Subject): Iterable<Violation> {
  if (declaredOwner(context, node.cluster, id.namespace) === undefined) return
  for (const { at, rule } of writtenRules(object)) {
    const danger = editsNamespaceParts(rule)
    if (!danger) continue
    yield {
      node,
      object,
      path: ['rules'],
      origin: originAt(object.root, ['rules', at]),
      value: danger.what,
      message: message`${objectPart(id.kind, id.namespace, id.name)} lets accounts of a tenant ${quoted('value', danger.what)}: ${untyped(danger.why)}. Allowed: rights on objects in the namespace.`,
      fix: message`Remove namespaces/status and namespaces/finalize from the rule.`,
    }
  }
}

function* ofBinding(context: RuleContext, { node, object, id }: Subject): Iterable<Violation> {
  const binding = readBinding(object)
  for (const [at, bound] of (binding?.subjects ?? []).entries()) {
    const reach = reachOf(bound)
    const tenant = reach.of === 'accounts' ? declaredOwner(context, node.cluster, reach.namespace) : undefined
    const found = tenant === undefined ? undefined : worst(context, node.cluster, tenant, binding!)
    if (!found) continue
    const { kind, name } = binding!.roleRef
    yield {
      node,
      object,
      path: ['subjects', at],
      ...placeOf(context, node.cluster, binding!, found.what),
      value: `${subjectText(bound)} ${kind} ${name}: ${found.what}`,
      message: message`${objectPart(id.kind, binding!.namespace, id.name)} lets ${quoted('identity', subjectText(bound))}, of a tenant, ${quoted('value', found.what)} by ${part('object', kind)} ${quoted('object', name)}: ${untyped(found.why)}. Allowed: impersonating the tenant's own account, limited by resourceNames.`,
      fix: message`Set resourceNames of the rule to the tenant's own account, or remove the rule.`,
    }
  }
}

/** What these allow is what everybody knows them for; sa-foreign says where they may not be bound. */
const STANDARD = ['cluster-admin', 'admin', 'edit', 'view']

function worst({ index }: RuleContext, cluster: string, tenant: string, binding: Binding): Danger | undefined {
  if (STANDARD.includes(binding.roleRef.name)) return undefined
  const rules = index.roleRules(cluster, binding.roleRef, binding.namespace) ?? []
  if (binding.namespace !== '') return rules.map(editsNamespaceParts).find(danger => danger !== undefined)
  const owns = (namespace: string) => index.owns(cluster, tenant, namespace)
  const excess = excessRights(rules, { owns, ofCapsule: index.isCapsuleTenant(cluster, tenant) })
  return excess.flatMap(dangersOf).find(danger => danger.escapes)
}

/** The rule of the role that says so, where the fleet renders it. */
function placeOf(
  { index }: RuleContext,
  cluster: string,
  { roleRef, namespace }: Binding,
  what: string,
): Pick<Violation, 'origin'> {
  const own = roleRef.kind === 'Role' ? namespace : ''
  const role = index.versionsOf(cluster, `${RBAC_GROUP}/${roleRef.kind}`, own, roleRef.name).at(-1)?.object
  const rule = role && writtenRules(role).find(one => dangersOf(one.rule).some(danger => danger.what === what))
  return role && rule ? { origin: originAt(role.root, ['rules', rule.at]) } : {}
}
