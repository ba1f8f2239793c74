import type { FleetIndex } from '../../facts/fleet-index.ts'
import type { Naming } from '../../facts/naming.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { type BoundSubject, displayRbac, RBAC_GROUP } from '../../kube/rbac/binding.ts'
import { readBinding } from '../../kube/rbac/read-binding.ts'
import { listed, type Message, message } from '../../message/message.ts'
import { asMessage } from '../../message/said.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { bindingCause } from './support/binding-cause.ts'
import { declaredOwner } from './support/declared-owner.ts'
import { isPublic } from './support/is-public.ts'
import { reachOf, subjectText } from './support/subject-reach.ts'

const ROLE_BINDING = `${RBAC_GROUP}/RoleBinding`

/** A binding in a tenant's namespace for somebody who is not the tenant. */
export const rbacForeignSubject: Rule = {
  id: 'rbac-foreign-subject',
  severity: 'high',
  title: 'RoleBinding for another tenant',
  why: "A RoleBinding for another tenant's account opens the namespace to everyone who can write to that tenant's repository. A Kubernetes group (`system:*`) can include every account of another namespace, or every node.",
  source: 'https://fluxcd.io/flux/cmd/flux_create_tenant/',
  docs: "Bind accounts of the tenant's namespaces. The platform grants rights to people and other teams. A tenant may bind a person or group that the platform has bound in one of the tenant's namespaces.",
  kinds: [ROLE_BINDING],
  *checkObject(subject, context) {
    const { node, object, id } = subject
    const evaluateFleet = node.tenant === undefined ? evaluatePlatform : evaluateTenant
    const binding = readBinding(object)
    if (!binding) return
    const role = binding.roleRef.name
    const all = binding.subjects.map(bound => evaluateFleet(context, subject, bound))
    for (const [at, bound] of binding.subjects.entries()) {
      const found = all[at]
      if (!found) continue
      const same = binding.subjects.filter((_, index) => all[index] && all[index].level === found.level)
      const whom = listed(same.map(one => quoted('identity', subjectText(one))))
      yield {
        node,
        object,
        path: ['subjects', at],
        value: subjectText(bound),
        cause: bindingCause(displayRbac(binding)),
        message: message`${objectPart(id.kind, id.namespace, id.name)} gives ${whom} the rights of ${quoted('value', role)} in namespace ${quoted('object', id.namespace)}: ${asMessage(found.why)}`,
        fix: found.fix,
        ...(found.level ? { level: found.level } : {}),
        ...(found.level ? {} : { severity: 'critical' as const }),
      }
    }
  },
}

type Found = Pick<Violation, 'fix' | 'level'> & { readonly why: string | Message }

/** The platform gives its own accounts and people what it wants, but not one tenant to another. */
function evaluatePlatform(context: RuleContext, { node, id }: Subject, bound: BoundSubject): Found | undefined {
  const reach = reachOf(bound)
  const here = declaredOwner(context, node.cluster, id.namespace)
  if (reach.of !== 'accounts' || here === undefined) return undefined
  const there = declaredOwner(context, node.cluster, reach.namespace)
  if (there === undefined || there === here) return undefined
  return {
    why: 'the account is in a namespace of another tenant, who would act here, too. Allowed: accounts of the same tenant and of the platform.',
    fix: message`Remove the subject, or assign both namespaces to one tenant.`,
  }
}

function evaluateTenant({ index }: RuleContext, { node, id }: Subject, bound: BoundSubject): Found | undefined {
  const tenant = node.tenant ?? ''
  // the rule rbac-public-subject says so
  if (isPublic(bound)) return undefined
  const reach = reachOf(bound)
  if (reach.of === 'accounts' && index.owns(node.cluster, tenant, reach.namespace)) return undefined
  if (isBoundByPlatform(index, node.cluster, id.namespace, bound)) return undefined
  return {
    ...(isOfKubernetes(bound) ? {} : { level: 'warning' as const }),
    why: message`it is not one of tenant ${quoted('tenant', tenant)}. Allowed: accounts of the tenant's own namespaces.`,
    fix: message`Replace the subject with an account of the tenant's namespaces, or ask a fleet admin to bind it.`,
  }
}

/** A group of Kubernetes itself: the masters, the nodes, all accounts of somebody else's namespace. */
const isOfKubernetes = ({ kind, name }: BoundSubject) => kind === 'Group' && name.startsWith('system:')

function isBoundByPlatform(index: FleetIndex, cluster: string, namespace: string, bound: BoundSubject): boolean {
  return index.found(cluster, ROLE_BINDING, namespace, BOUND, subjectText(bound)).length > 0
}

/** Whom the platform binds. */
const BOUND: Naming = {
  id: 'platform binds',
  of: ({ node, object }) => (node.tenant === undefined ? (readBinding(object)?.subjects ?? []).map(subjectText) : []),
}
