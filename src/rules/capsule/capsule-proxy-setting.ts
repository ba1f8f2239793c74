import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { canonical, type Node, type Path, stringAt } from '../../kube/node.ts'
import { type Message, message, part } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { isPublic } from '../rbac/support/is-public.ts'
import { tenantsOwnedBy } from './support/capsule-tenants.ts'
import { listAt, textsAt } from './support/list-at.ts'

const GLOBAL = 'capsule.clastix.io/GlobalProxySettings'

/** Capsule's proxy uses its own rights for what it does on behalf of a subject. */
export const capsuleProxySetting: Rule = {
  id: 'capsule-proxy-setting',
  severity: 'critical',
  title: "ProxySetting outside the tenant's limits",
  why: "Capsule's proxy answers for the subjects of a ProxySetting with its own rights. `clusterResources` shows them cluster-scoped objects of every tenant and of the platform; `proxySettings` lets them list, update or delete nodes and classes.",
  source: 'capsule-proxy: api/v1beta1/proxysettings_types.go, internal/tenant/proxytenant.go',
  docs: 'Remove `clusterResources`. In `proxySettings`, use only operations that the platform gives an owner of the tenant in `spec.owners[].proxySettings` of the Tenant. For more, the platform writes a GlobalProxySettings, which names no group that includes every user.',
  kinds: ['capsule.clastix.io/ProxySetting', GLOBAL],
  *checkObject(subject, context) {
    // a tenant's own GlobalProxySettings is cluster-scoped-forbidden
    if (subject.node.tenant === undefined) return yield* everybody(subject)
    if (subject.kind === GLOBAL) return
    const given = givenByPlatform(subject, context)
    for (const [index, one] of listAt(subject.object.root, ['spec', 'subjects']).entries()) {
      const path = ['spec', 'subjects', index]
      for (const [place, resource] of listAt(one, ['clusterResources']).entries()) {
        const what = message`read cluster-scoped objects (${quoted('value', textsAt(resource, ['resources']).join(', '))})`
        yield violation(subject, one, [...path, 'clusterResources', place], canonical(resource), what)
      }
      for (const [place, setting] of listAt(one, ['proxySettings']).entries()) {
        const kind = stringAt(setting, ['kind']) ?? ''
        const more = textsAt(setting, ['operations']).filter(operation => !given.has(`${kind} ${operation}`))
        if (more.length === 0) continue
        const what = message`${part('value', more.join(', '))} ${quoted('value', kind)}`
        yield violation(subject, one, [...path, 'proxySettings', place], `${kind} ${more.join(' ')}`, what)
      }
    }
  },
}

/** What the platform lets everybody do by the proxy. */
function* everybody(subject: Subject): Iterable<Violation> {
  const rules = subject.kind === GLOBAL ? listAt(subject.object.root, ['spec', 'rules']).length : 0
  const places: Path[] =
    subject.kind === GLOBAL ? Array.from({ length: rules }, (_, at) => ['spec', 'rules', at]) : [['spec']]
  for (const place of places) {
    for (const [index, one] of listAt(subject.object.root, [...place, 'subjects']).entries()) {
      const path = [...place, 'subjects', index]
      const bound = { kind: stringAt(one, ['kind']) ?? '', name: stringAt(one, ['name']) ?? '' }
      const shared = [
        ...listAt(subject.object.root, [...place, 'clusterResources']),
        ...listAt(one, ['clusterResources']),
      ]
      const given = [...shared, ...listAt(one, ['proxySettings'])]
      if (!isPublic(bound) || given.length === 0) continue
      const what = [
        ...shared.flatMap(resource => textsAt(resource, ['resources'])),
        ...listAt(one, ['proxySettings']).flatMap(grants),
      ]
      yield violation(
        subject,
        one,
        path,
        given.map(canonical).join(' '),
        message`use ${quoted('value', what.join(', '))}`,
      )
    }
  }
}

/** `<kind> <operation>` pairs that the platform allows the owners of this identity's Tenants. */
function givenByPlatform({ node }: Subject, { index }: RuleContext): ReadonlySet<string> {
  const tenants = tenantsOwnedBy(index, node.cluster, node.identity)
  return new Set(tenants.flatMap(({ root }) => listAt(root, ['spec', 'owners']).flatMap(grants)))
}

const grants = (owner: Node): string[] =>
  listAt(owner, ['proxySettings']).flatMap(setting =>
    textsAt(setting, ['operations']).map(operation => `${stringAt(setting, ['kind']) ?? ''} ${operation}`),
  )

function violation({ object, id, node }: Subject, one: Node, path: Path, value: string, what: Message): Violation {
  const who = `${stringAt(one, ['kind']) ?? ''} ${stringAt(one, ['name']) ?? ''}`
  return {
    node,
    object,
    path,
    value: `${who} ${value}`,
    message: message`${objectPart(id.kind, id.namespace, id.name)} lets ${quoted('identity', who)} ${what} through Capsule's proxy. Allowed: ${node.tenant === undefined ? message`users and groups of single tenants` : message`operations that an owner of the tenant has by the Tenant`}. The proxy answers with its own rights.`,
    fix: message`Remove the entry.`,
  }
}
