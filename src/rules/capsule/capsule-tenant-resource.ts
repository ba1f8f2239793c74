import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import { codeWord, type Message, message } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { listAt } from './support/list-at.ts'

const MAX_NESTING = 8

/** What Capsule copies on behalf of a tenant, it copies as cluster-admin. */
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
        yield violation(subject, at, 'generator', what, message`Move the objects to ${codeWord('rawItems')}.`)
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
    yield violation(
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
    yield violation(
      subject,
      [...path, place, 'namespace'],
      `${kind} of ${text}`,
      message`copies of ${quoted('value', kind)} objects of ${from}`,
      fix,
    )
  }
}

function violation({ object, id, node }: Subject, path: Path, value: string, what: Message, fix: Message): Violation {
  return {
    node,
    object,
    path,
    value,
    message: message`${objectPart(id.kind, id.namespace, id.name)} makes Capsule create ${what}. Allowed: objects of namespaced kinds, from the tenant's namespaces. Capsule creates them as cluster-admin.`,
    fix,
  }
}

const nameOf = (item: Node) => stringAt(item, ['metadata', 'name']) ?? ''
