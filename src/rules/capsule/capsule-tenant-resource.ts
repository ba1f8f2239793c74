import { shown, shownObject } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import type { Breach, Rule, RuleContext } from '../model/rule.ts'
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
      yield* namespacedItems(subject, context, [...path, 'namespacedItems'], resource)
      for (const [place] of listAt(resource, ['generators']).entries()) {
        const at = [...path, 'generators', place]
        const what = 'objects from a template, which cannot be evaluated'
        yield breach(subject, at, 'generator', what, 'Move the objects to rawItems.')
      }
    }
  },
}

function* rawItems(subject: Subject, context: RuleContext, path: Path, depth: number): Iterable<Breach> {
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
    const name = shownObject(kind || 'an object without kind', '', nameOf(item))
    const what =
      scope === 'Cluster'
        ? `${name}, which is cluster-scoped`
        : `${name}, a kind of unknown scope (${shown(apiVersion)})`
    yield breach(subject, [...here, 'kind'], `${apiVersion} ${kind} ${nameOf(item)}`, what, 'Remove the raw item.')
  }
}

function* namespacedItems(subject: Subject, { index }: RuleContext, path: Path, resource: Node): Iterable<Breach> {
  const { cluster, tenant } = subject.node
  for (const [place, item] of listAt(resource, ['namespacedItems']).entries()) {
    const namespace = at(item, ['namespace'])
    const text = stringAt(item, ['namespace']) ?? ''
    if (index.owns(cluster, tenant!, text)) continue
    const kind = stringAt(item, ['kind']) ?? 'object'
    const from =
      text === ''
        ? namespace
          ? 'a namespace that is not text'
          : 'any namespace'
        : `namespace ${shown(text)}, which is not the tenant's`
    const fix = 'Set namespace to a namespace of the tenant.'
    yield breach(
      subject,
      [...path, place, 'namespace'],
      `${kind} of ${text}`,
      `copies of ${shown(kind)} objects of ${from}`,
      fix,
    )
  }
}

function breach({ object, id, node }: Subject, path: Path, value: string, what: string, fix: string): Breach {
  return {
    node,
    object,
    path,
    value,
    message: `${shownObject(id.kind, id.namespace, id.name)} makes Capsule create ${what}. Allowed: objects of namespaced kinds, from the tenant's namespaces. Capsule creates them as cluster-admin.`,
    fix,
  }
}

const nameOf = (item: Node) => stringAt(item, ['metadata', 'name']) ?? ''
