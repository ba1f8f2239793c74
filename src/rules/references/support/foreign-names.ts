import { quoted } from '../../../facts/shown.ts'
import type { TenantSubject } from '../../../facts/subject.ts'
import { annotations } from '../../../kube/capabilities/annotations.ts'
import type { Named, NamingField } from '../../../kube/capabilities/capability.ts'
import { annotationNaming, fieldsNaming } from '../../../kube/capabilities/index.ts'
import { ANY_NAMESPACE, type NamedValue, namedAt, namedBy } from '../../../kube/capabilities/read-named.ts'
import { at, type Node, type Path, stringAt } from '../../../kube/node.ts'
import { userInfo } from '../../../kube/rbac/groups-of.ts'
import { textsOf } from '../../../kube/read-text.ts'
import { type Message, message, untyped } from '../../../message/message.ts'
import type { RuleContext } from '../../model/rule.ts'
import { keepsNamespace } from '../../namespaces/support/keeps-namespace.ts'
import { hostOf } from './endpoints.ts'
import { insideOf } from './inside-of.ts'

/** A value of a tenant's object that leads out of the tenant's namespaces. */
export interface ForeignName {
  readonly path: Path
  readonly value: string
  readonly field: NamingField
  /** What it leads to, for people. */
  readonly what: Message
}

/** What an object names of these outside of its tenant's namespaces, by fields of its kind and by annotations. */
export function* foreignNames(
  subject: TenantSubject,
  context: RuleContext,
  ...named: readonly Named[]
): Iterable<ForeignName> {
  const { root } = subject.object
  for (const field of fieldsNaming(subject.kind, ...named)) {
    for (const value of namedBy(root, field)) yield* evaluateFleet(subject, context, field, value)
  }
  for (const { field, path } of annotated(root, named)) {
    for (const value of namedAt(root, path, field)) yield* evaluateFleet(subject, context, field, value)
  }
}

/** Annotations of the object, and those that it gives to what is made of it, such as pods. */
function* annotated(
  root: Node,
  named: readonly Named[],
  path: Path = [],
): Iterable<{ field: NamingField; path: Path }> {
  // most objects have none: asked without building paths
  if (path.length === 0 && !isAnnotated(root)) return
  if (root.type === 'list')
    for (const [index, item] of root.items.entries()) yield* annotated(item, named, [...path, index])
  if (root.type !== 'map') return
  for (const [key, { value }] of root.fields) {
    const here = [...path, key]
    if (key === 'annotations' && value.type === 'map') {
      for (const name of value.fields.keys()) {
        const field = annotationNaming(name, ...named)
        if (field) yield { field, path: [...here, name] }
      }
    } else if (value.type !== 'scalar') yield* annotated(value, named, here)
  }
}

function isAnnotated(node: Node): boolean {
  if (node.type === 'list') return node.items.some(isAnnotated)
  if (node.type !== 'map') return false
  for (const [key, { value }] of node.fields) {
    if (value.type === 'scalar') continue
    if (key === 'annotations' && value.type === 'map') {
      for (const name of value.fields.keys()) if (annotations.has(name)) return true
    } else if (isAnnotated(value)) return true
  }
  return false
}

function* evaluateFleet(
  subject: TenantSubject,
  context: RuleContext,
  field: NamingField,
  value: NamedValue,
): Iterable<ForeignName> {
  if (field.form === 'host' || field.form === 'url') yield* evaluateHost(subject, context, field, value)
  else if (isForeign(subject, context, field, value)) {
    const { path, namespace, name, text } = value
    const where =
      namespace === ANY_NAMESPACE ? message`any namespace` : message`namespace ${quoted('object', namespace)}`
    const written = text === namespace ? where : message`${where} (${quoted('value', text)})`
    const what = name === '' ? written : message`${quoted('object', name)} of ${where}`
    yield { path, value: name === '' ? text : `${namespace}/${name}`, field, what }
  }
}

function isForeign(
  { node, id }: TenantSubject,
  context: RuleContext,
  field: NamingField,
  { namespace, name }: NamedValue,
): boolean {
  const { index } = context
  if (namespace === '' || namespace === id.namespace) return false
  if (field.form === 'hyphen') return isOfOthers(context, node.cluster, node.tenant, namespace)
  if (keepsNamespace(context, node.cluster, node.tenant, namespace)) return false
  // What the platform offers may be named; what belongs to another tenant may not.
  if (field.shared) return index.ownerOf(node.cluster, namespace) !== undefined
  if (field.grantedBy === undefined || namespace === ANY_NAMESPACE) return true
  const [apiGroup = '', resource = '', subresource] = field.grantedBy.split('/')
  const request = { verb: 'create', apiGroup, resource, subresource, namespace, name }
  return !index.authorizer(node.cluster).allows(userInfo(node.identity.user), request)
}

/** `<namespace>-<name>`: where it may be cut is not written, so each namespace of another tenant that fits counts. */
function isOfOthers({ index }: RuleContext, cluster: string, tenant: string, text: string): boolean {
  const steps = text.split('-').slice(0, 64)
  const owners = steps.map((_, count) => index.ownerOf(cluster, steps.slice(0, count).join('-')))
  return !owners.includes(tenant) && owners.some(owner => owner !== undefined)
}

function* evaluateHost(
  { node, object }: TenantSubject,
  { index }: RuleContext,
  field: NamingField,
  { path, text }: NamedValue,
): Iterable<ForeignName> {
  const found = field.form === 'url' ? hostOf(text) : { host: text.replace(PORT, ''), isUrl: false }
  if (/^\*(?:\.(?:svc\.)?(?:cluster\.)?local)?$/.test(text) && isOfMesh(object.root)) {
    yield { path, value: text, field, what: message`${quoted('value', text)}, which is every service of the mesh` }
    return
  }
  // A name without a dot is a service of the object's own namespace.
  if (!found?.host.includes('.') && !found?.host.includes(':')) return
  const inside = insideOf(index, node.cluster, node.tenant, found.host, true)
  if (!inside || RESERVED.test(inside.what)) return
  if (field.shared && inside.namespace !== undefined && index.ownerOf(node.cluster, inside.namespace) === undefined)
    return
  yield {
    path,
    value: found.host.toLowerCase(),
    field,
    what: message`${quoted('value', found.host)}, which is ${untyped(inside.what)}`,
  }
}

/** A route of Istio without a gateway is for the calls between services. */
function isOfMesh(root: Node): boolean {
  if (stringAt(root, ['kind']) !== 'VirtualService') return false
  const gateways = textsOf(at(root, ['spec', 'gateways'])) ?? ['mesh']
  return gateways.length === 0 || gateways.includes('mesh')
}

/** Behind a name; an IPv6 address has more colons. */
const PORT = /(?<=^[^:]+):\d{1,5}$/

/** Meshes give such addresses to hosts that have none. */
const RESERVED = /multicast or reserved/

/** Places of an unknown kind which by their names may name namespaces. */
const SUSPECTS = ['**.namespace', '**.namespaces.*', '**.targetNamespace', '**.matchNames.*']

/** What an object of a kind beyond the table names by fields that are called as if they named a namespace of others. */
export function* suspectedNames({ object, node }: TenantSubject, context: RuleContext): Iterable<ForeignName> {
  for (const place of SUSPECTS) {
    const field: NamingField = { at: place, names: 'namespace' }
    for (const { path, text } of namedBy(object.root, field)) {
      if (path[0] === 'metadata' || !isKnown(context, node.cluster, node.tenant, text)) continue
      yield { path, value: text, field, what: message`namespace ${quoted('object', text)}` }
    }
  }
}

function isKnown(context: RuleContext, cluster: string, tenant: string, namespace: string): boolean {
  if (keepsNamespace(context, cluster, tenant, namespace)) return false
  const { index } = context
  return (
    index.ownerOf(cluster, namespace) !== undefined ||
    index.platformObject(cluster, '/Namespace', '', namespace) !== undefined
  )
}
