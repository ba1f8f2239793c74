import { codeWord, type Message, message, part } from '../../base/message.ts'
import { objectPart, quoted } from '../../fleet/facts/shown.ts'
import { at, canonical, type Node, type Path, stringAt } from '../../kube/node.ts'
import { listAt, textsAt } from '../model/object-values.ts'
import type { Rule, RuleContext, Subject, Violation } from '../model/rule.ts'
import { isPublic, tenantsOwnedBy } from './capsule-users.ts'

const GLOBAL = 'capsule.clastix.io/GlobalProxySettings'

/** Capsule's proxy uses its own rights when it acts for a subject. */
export const capsuleProxySetting: Rule = {
  id: 'capsule-proxy-setting',
  severity: 'critical',
  title: "ProxySetting outside the tenant's limits",
  why: "Capsule's proxy answers for the subjects of a ProxySetting with its own rights. `clusterResources` shows them cluster-scoped objects of every tenant and of the platform; `proxySettings` lets them list, update or delete nodes and classes.",
  source: 'capsule-proxy: api/v1beta1/proxysettings_types.go, internal/tenant/proxytenant.go',
  docs: 'Remove `clusterResources`. In `proxySettings`, use only operations that the platform gives an owner of the tenant in `spec.owners[].proxySettings` of the Tenant. For more, the platform writes a GlobalProxySettings, which names no group that includes every user.',
  kinds: ['capsule.clastix.io/ProxySetting', GLOBAL],
  *checkObject(subject, context) {
    // the rule cluster-scoped-forbidden reports a tenant's own GlobalProxySettings
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

/** What the platform lets all users do through the proxy. */
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

function violation(subject: Subject, one: Node, path: Path, value: string, what: Message): Violation {
  const who = `${stringAt(one, ['kind']) ?? ''} ${stringAt(one, ['name']) ?? ''}`
  return subject.violation(path, `${who} ${value}`, {
    message: message`${subject.who} lets ${quoted('identity', who)} ${what} through Capsule's proxy. Allowed: ${subject.node.tenant === undefined ? message`users and groups of single tenants` : message`operations that an owner of the tenant has by the Tenant`}. The proxy answers with its own rights.`,
    fix: message`Remove the entry.`,
  })
}

const MAX_NESTING = 8

/** Capsule copies as cluster-admin, also for a tenant. */
export const capsuleTenantResource: Rule = {
  id: 'capsule-tenant-resource',
  severity: 'critical',
  title: "TenantResource outside the tenant's limits",
  why: 'Capsule creates the raw items of a TenantResource with its own cluster-admin rights. Capsule sets their namespace, but a cluster-scoped object has none. Copied items come from the namespace that the item names.',
  source: 'CVE-2026-22872, CVE-2025-55205',
  docs: 'Use only namespaced kinds in `rawItems`, and only namespaces of the tenant in `namespacedItems`.',
  kinds: ['capsule.clastix.io/TenantResource'],
  *checkTenantObject(subject, context) {
    for (const [index, resource] of listAt(subject.object.root, ['spec', 'resources']).entries()) {
      const path = ['spec', 'resources', index]
      yield* rawItems(subject, context, [...path, 'rawItems'], 0)
      yield* namespacedItems(subject, context, [...path, 'namespacedItems'], listAt(resource, ['namespacedItems']))
      const read = listAt(resource, ['context', 'resources'])
      yield* namespacedItems(subject, context, [...path, 'context', 'resources'], read, 'own')
      for (const [place] of listAt(resource, ['generators']).entries()) {
        const at = [...path, 'generators', place]
        const what = message`objects from a template, which cannot be evaluated`
        yield tenantResourceViolation(
          subject,
          at,
          'generator',
          what,
          message`Move the objects to ${codeWord('rawItems')}.`,
        )
      }
    }
  },
}

function* rawItems(subject: Subject, context: RuleContext, path: Path, depth: number): Iterable<Violation> {
  for (const [place, item] of listAt(subject.object.root, path).entries()) {
    const apiVersion = stringAt(item, ['apiVersion']) ?? ''
    const kind = stringAt(item, ['kind']) ?? ''
    const here = [...path, place]
    if (at(item, ['items'])?.type === 'list' && depth < MAX_NESTING) {
      yield* rawItems(subject, context, [...here, 'items'], depth + 1)
      if (kind.endsWith('List')) continue
    }
    const scope = context.index.scopeOf(subject.node.cluster, apiVersion, kind)
    if (scope === 'Namespaced') continue
    const name = objectPart(kind || 'an object without kind', '', nameOf(item))
    const what =
      scope === 'Cluster'
        ? message`${name}, which is cluster-scoped`
        : message`${name}, a kind of unknown scope (${quoted('value', apiVersion)})`
    yield tenantResourceViolation(
      subject,
      [...here, 'kind'],
      `${apiVersion} ${kind} ${nameOf(item)}`,
      what,
      message`Remove the raw item.`,
    )
  }
}

/** `without`: the namespaces that Capsule uses for an item without a namespace. */
function* namespacedItems(
  subject: Subject,
  { index }: RuleContext,
  path: Path,
  items: readonly Node[],
  without: 'any' | 'own' = 'any',
): Iterable<Violation> {
  const { cluster, tenant } = subject.node
  for (const [place, item] of items.entries()) {
    const namespace = at(item, ['namespace'])
    if (without === 'own' && namespace === undefined) continue
    const text = stringAt(item, ['namespace']) ?? ''
    if (index.owns(cluster, tenant!, text)) continue
    const kind = stringAt(item, ['kind']) ?? 'object'
    const from =
      text === ''
        ? namespace
          ? message`a namespace that is not text`
          : message`any namespace`
        : message`namespace ${quoted('object', text)}, which is not the tenant's`
    const fix = message`Set namespace to a namespace of the tenant.`
    yield tenantResourceViolation(
      subject,
      [...path, place, 'namespace'],
      `${kind} of ${text}`,
      message`copies of ${quoted('value', kind)} objects of ${from}`,
      fix,
    )
  }
}

function tenantResourceViolation(subject: Subject, path: Path, value: string, what: Message, fix: Message): Violation {
  return subject.violation(path, value, {
    message: message`${subject.who} makes Capsule create ${what}. Allowed: objects of namespaced kinds, from the tenant's namespaces. Capsule creates them as cluster-admin.`,
    fix,
  })
}

const nameOf = (item: Node) => stringAt(item, ['metadata', 'name']) ?? ''
