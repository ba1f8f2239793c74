import { objectPart, quoted } from '../../../facts/shown.ts'
import type { Subject } from '../../../facts/subject.ts'
import { at, type Path, stringAt } from '../../../kube/node.ts'
import { message, part } from '../../../message/message.ts'
import type { RuleContext, Violation } from '../../model/rule.ts'
import { isPublic } from '../../rbac/support/is-public.ts'
import { capsuleSettings } from './capsule-settings.ts'
import { listAt } from './list-at.ts'

/**
 * Groups of everybody, or of Flux's controllers, among Capsule's users or administrators: Capsule binds all of them to create
 * Namespaces, and its webhooks then treat them as a tenant's.
 */
export function* publicUsers({ object, id, node }: Subject, { index }: RuleContext): Iterable<Violation> {
  if (node.tenant !== undefined) return
  const flux = `system:serviceaccounts:${index.rootOf(node.cluster)?.namespace}`
  for (const { rendered, path, groups } of capsuleSettings(index, node.cluster)) {
    if (rendered.object !== object) continue
    for (const field of new Set([groups, 'users', 'administrators'])) {
      for (const [place, item] of listAt(at(object.root, path), [field]).entries()) {
        const isText = item.type === 'scalar'
        const isGroup = isText || stringAt(item, ['kind']) === 'Group'
        const name = stringAt(item, isText ? [] : ['name'])
        const isFlux = name === flux && field !== 'administrators'
        if (!isGroup || name === undefined || !(isFlux || isPublic({ kind: 'Group', name }))) continue
        const at: Path = [...path, field, place, ...(isText ? [] : ['name'])]
        const who = isFlux
          ? message`Flux's own controllers`
          : message`accounts of all tenants and Flux's own controllers`
        yield {
          node,
          object,
          path: at,
          value: `${field} ${name}`,
          message: message`${objectPart(id.kind, id.namespace, id.name)}: ${part('field', [...path, field].join('.'))} lists ${quoted('identity', name)}, which includes ${who}. Allowed: the group of each tenant's own namespace, and groups of people. Capsule binds capsule-namespace-provisioner to the group, and refuses what its members do outside a Tenant.`,
          fix: message`Remove ${quoted('identity', name)}, and list ${part('identity', 'system:serviceaccounts:<namespace>')} of each account that owns a Tenant.`,
        }
      }
    }
  }
}
