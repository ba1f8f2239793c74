import { objectPart, quoted } from '../../facts/shown.ts'
import type { TenantSubject } from '../../facts/subject.ts'
import { canonical, type Node, type Path, stringAt } from '../../kube/node.ts'
import { type Message, message, part } from '../../message/message.ts'
import type { Breach, Rule, RuleContext } from '../model/rule.ts'
import { tenantsOwnedBy } from './support/capsule-tenants.ts'
import { listAt, textsAt } from './support/list-at.ts'

/** Capsule's proxy uses its own rights for what it does on behalf of a subject. */
export const capsuleProxySetting: Rule = {
  id: 'capsule-proxy-setting',
  severity: 'critical',
  title: "ProxySetting outside the tenant's limits",
  why: "Capsule's proxy answers for the subjects of a ProxySetting with its own rights. `clusterResources` shows them cluster-scoped objects of every tenant and of the platform; `proxySettings` lets them list, update or delete nodes and classes.",
  source: 'capsule-proxy: api/v1beta1/proxysettings_types.go, internal/tenant/proxytenant.go',
  docs: 'Remove `clusterResources`. In `proxySettings`, use only operations that the platform gives an owner of the tenant in `spec.owners[].proxySettings` of the Tenant. For more, the platform writes a GlobalProxySettings.',
  kinds: ['capsule.clastix.io/ProxySetting'],
  *checkTenantObject(subject, context) {
    const given = givenByPlatform(subject, context)
    for (const [index, one] of listAt(subject.object.root, ['spec', 'subjects']).entries()) {
      const path = ['spec', 'subjects', index]
      for (const [place, resource] of listAt(one, ['clusterResources']).entries()) {
        const what = message`read cluster-scoped objects (${quoted('value', textsAt(resource, ['resources']).join(', '))})`
        yield breach(subject, one, [...path, 'clusterResources', place], canonical(resource), what)
      }
      for (const [place, setting] of listAt(one, ['proxySettings']).entries()) {
        const kind = stringAt(setting, ['kind']) ?? ''
        const more = textsAt(setting, ['operations']).filter(operation => !given.has(`${kind} ${operation}`))
        if (more.length === 0) continue
        const what = message`${part('value', more.join(', '))} ${quoted('value', kind)}`
        yield breach(subject, one, [...path, 'proxySettings', place], `${kind} ${more.join(' ')}`, what)
      }
    }
  },
}

/** `<kind> <operation>` pairs that the platform allows the owners of this identity's Tenants. */
function givenByPlatform({ node }: TenantSubject, { index }: RuleContext): ReadonlySet<string> {
  const tenants = tenantsOwnedBy(index, node.cluster, node.identity)
  return new Set(tenants.flatMap(({ root }) => listAt(root, ['spec', 'owners']).flatMap(grants)))
}

const grants = (owner: Node): string[] =>
  listAt(owner, ['proxySettings']).flatMap(setting =>
    textsAt(setting, ['operations']).map(operation => `${stringAt(setting, ['kind']) ?? ''} ${operation}`),
  )

function breach({ object, id, node }: TenantSubject, one: Node, path: Path, value: string, what: Message): Breach {
  const who = `${stringAt(one, ['kind']) ?? ''} ${stringAt(one, ['name']) ?? ''}`
  return {
    node,
    object,
    path,
    value: `${who} ${value}`,
    message: message`${objectPart(id.kind, id.namespace, id.name)} lets ${quoted('identity', who)} ${what} through Capsule's proxy. Allowed: operations that an owner of the tenant has by the Tenant. The proxy answers with its own rights.`,
    fix: message`Remove the entry.`,
  }
}
