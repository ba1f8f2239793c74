import { type Message, message, part, untyped } from '../../base/message.ts'
import { lostCause } from '../../fleet/facts/fingerprint.ts'
import { namespacePart, objectPart, quoted } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { type Reference, references } from '../../flux/references.ts'
import type { Named, NamingField } from '../../kube/capabilities/capability.ts'
import { EMBEDDINGS } from '../../kube/capabilities/embeddings.ts'
import { annotationNaming, annotations, fieldsNaming, kindsNaming } from '../../kube/capabilities/index.ts'
import { ANY_NAMESPACE, type NamedValue, namedAt, namedBy } from '../../kube/capabilities/named-values.ts'
import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import { userInfo } from '../../kube/rbac/policy-rule.ts'
import { textsOf } from '../../kube/read-fields.ts'
import type { Rule, RuleContext, Subject, TenantSubject, Violation } from '../model/rule.ts'
import { keepsNamespace } from '../namespaces/confinement.ts'
import { isUnlooked } from '../namespaces/object-identity.ts'
import { FLAGGER_KINDS, hostOf, insideOf, isShareable } from './endpoints.ts'
import { type AccessFrom, accessOf, hasNamesake } from './source-access.ts'

/** A tenant's object refers only to objects in the tenant's own namespaces. */
export const crossNamespaceRef: Rule = {
  id: 'cross-namespace-ref',
  severity: 'critical',
  title: 'Reference to an object in another namespace',
  why: 'A reference to a source in another namespace deploys with the credentials of that source. An object that depends on, watches or triggers objects of another namespace can read their state and delay them. Flux rejects only some of these references, and only with `--no-cross-namespace-refs`. Other controllers read, copy and write across namespaces with their own rights.',
  source: 'fluxcd/flux2 discussion 263; RFC-0001 and RFC-0002; kustomize-controller --no-cross-namespace-refs',
  docs: "Remove `namespace` from the reference and declare the source in the namespace of the object. On clusters without `--no-cross-namespace-refs`, the owner of a source can open it with an access control list (`source-acl`). With the flag, Flux rejects every cross-namespace reference. The table of reference fields is src/kube/capabilities. For kinds outside the table, a namespace field that names another tenant's namespace is a warning. So is a Kustomization of the platform that waits for a tenant's object by `healthChecks` or `dependsOn`.",
  kinds: 'every',
  *checkObject(subject, context) {
    const { object, node } = subject
    for (const reference of references(object)) yield* foreignReference(subject, reference, context)
    if (node.tenant !== undefined) yield* ofOtherControllers(subject as TenantSubject, context)
  },
}

/** What controllers other than Flux's would read, write or hand out for the object, with their own rights. */
function* ofOtherControllers(subject: TenantSubject, context: RuleContext): Iterable<Violation> {
  for (const name of foreignNames(subject, context, 'namespace', 'secret', 'configMap', 'identity', 'volume', 'object'))
    yield foreign(subject, name)
  if (!isUnlooked(subject, context.index)) return
  for (const name of suspectedNames(subject, context)) {
    if (!isOfEmbedded(subject, name)) yield { ...foreign(subject, name), level: 'warning' }
  }
}

/** The namespace of an embedded object is reported by itself. */
function isOfEmbedded({ kind }: TenantSubject, { path }: ForeignName): boolean {
  return Object.hasOwn(EMBEDDINGS, kind) && path.length > 2 && path.at(-2) === 'metadata' && path.at(-1) === 'namespace'
}

const NOUNS: Readonly<Partial<Record<Named, string>>> = {
  secret: 'Secret',
  configMap: 'ConfigMap',
  identity: 'account',
  volume: 'volume',
  object: 'object',
}

function foreign(subject: TenantSubject, { path, value, field, what }: ForeignName): Violation {
  const { id } = subject
  const noun = NOUNS[field.names]
  const verb = field.access === 'write' ? 'writes to' : 'names'
  return subject.violation(path, value, {
    message: message`${subject.who} ${verb} ${noun === undefined ? '' : message`${untyped(noun)} `}${what}, which does not belong to the tenant. Allowed: ${namespacePart(id.namespace)}. The controller would act there with its own rights.`,
    fix: message`Set the reference to an object of ${namespacePart(id.namespace)}.`,
    clusterAnswer: 'none: the API server accepts it',
    ...allowedAt(path, id.namespace),
    ...(field.level ? { level: field.level } : {}),
  })
}

function* foreignReference(subject: Subject, reference: Reference, context: RuleContext): Iterable<Violation> {
  const { index } = context
  const { object, node } = subject
  const { namespace } = subject.id
  const target = reference.namespace
  if (target === null || target === namespace) return
  const locked = reference.refusedByFlux && index.cluster(node.cluster)?.lockdown.noCrossNamespaceRefs === true
  // the platform may refer freely from a tenant's namespace, unless Flux would refuse to act on it
  const tenant = index.actsFor(node, object)
  if (tenant === undefined) return yield* waitsForTenant(subject, reference, context)
  if (node.tenant === undefined && !locked) return
  if (!locked && keepsNamespace(context, node.cluster, tenant, target)) return
  const access = accessOf(index, node.cluster, namespace, reference)
  // if Flux does not refuse, the source's owner decides; the rule source-acl reports namespaces that the list excludes
  if (!locked && access !== 'none') return
  const what = objectPart(reference.kind, target, reference.name)
  const answer = fluxAnswer(reference, locked, access)
  const value = `${reference.kind}/${target}/${reference.name}`
  yield subject.asNode(index).violation(reference.path, value, {
    follows: [lostCause(namespace)],
    message: message`${subject.who} refers to ${what}, which is in another namespace. Allowed: ${namespacePart(namespace)}.${untyped(shownSafe(answer))}`,
    ...fixOf(context, node, namespace, reference),
  })
}

/** The platform's Kustomization waits for what a tenant can keep from becoming healthy. */
function* waitsForTenant(
  subject: Subject,
  { path, kind, name, namespace }: Reference,
  { index }: RuleContext,
): Iterable<Violation> {
  const owner = namespace === null ? undefined : index.ownerOf(subject.node.cluster, namespace)
  const field = String(path[1])
  if (owner === undefined || !['healthChecks', 'dependsOn'].includes(field)) return
  const what = objectPart(kind, namespace ?? '', name)
  yield subject.violation(path, `${field} ${kind}/${namespace}/${name}`, {
    level: 'warning',
    severity: 'medium',
    message: message`${subject.who} waits for ${what}, which tenant ${quoted('tenant', owner)} can change or delete. Allowed: objects of the platform. Until it is healthy, Flux does not report the ${part('value', subject.id.kind)} as ready, and what depends on it waits too.`,
    fix: message`Remove it from ${part('field', `spec.${field}`)}, or wait for an object of the platform.`,
  })
}

/** Without `namespace` it refers to the object's own namespace, which is an edit only if an object is there. */
function fixOf(
  { index }: RuleContext,
  { cluster }: FleetNode,
  namespace: string,
  reference: Reference,
): Pick<Violation, 'fix' | 'allowed' | 'edit'> {
  const { kind, name, path } = reference
  if (name !== '*' && !hasNamesake(index, cluster, namespace, reference)) {
    return {
      fix: message`Declare ${objectPart(kind, namespace, name)}, and remove \`namespace\` from the reference. Or use another object of ${namespacePart(namespace)}.`,
    }
  }
  return {
    fix: message`Remove \`namespace\` from the reference and use an object of ${namespacePart(namespace)}.`,
    ...allowedAt(path, namespace),
    ...(path.at(-1) === 'namespace' && name !== '*' ? { edit: { remove: true } } : {}),
  }
}

/** An object without a namespace has no own namespace to name. */
function allowedAt(path: Path, namespace: string): Pick<Violation, 'allowed'> {
  return path.at(-1) === 'namespace' && namespace !== '' ? { allowed: [namespace] } : {}
}

function fluxAnswer(reference: Reference, locked: boolean, access: AccessFrom): string {
  if (reference.isUnknownField) return ' Flux does not have this field: the API server would reject or drop it.'
  if (!locked) return ' Flux accepts it.'
  const { kind, namespace, name } = reference
  const list = {
    none: '',
    open: 'admits',
    closed: 'does not admit',
    unreadable: 'cannot be read, so it does not admit',
  }
  const acl = access === 'none' ? '' : ` The access control list of the source ${list[access]} the namespace;`
  const flux = `Flux, whatever a list allows: can't access '${kind}/${namespace}/${name}', cross-namespace references have been blocked.`
  return access === 'none' ? ` ${flux.replace(', whatever a list allows', '')}` : `${acl} ${flux}`
}

/** Flux's words quote the author's text; odd characters are shown as their numbers. */
function shownSafe(text: string): string {
  return text.replace(/[^\x20-\x7e]/gu, character => `\\u{${character.codePointAt(0)!.toString(16)}}`).slice(0, 600)
}

const MANUAL = ['/Endpoints', 'discovery.k8s.io/EndpointSlice']
const SERVICE = '/Service'
/** Kinds whose annotations name services too. */
const ANNOTATED = ['networking.k8s.io/Ingress', 'extensions/Ingress']

/** A tenant's traffic stays with the tenant's services. */
export const crossNamespaceNetworkRef: Rule = {
  id: 'cross-namespace-network-ref',
  severity: 'medium',
  level: 'warning',
  title: "Traffic to another tenant's Service",
  why: "An ingress controller, a gateway or a mesh can connect to every namespace. A backend in another tenant's namespace bypasses the network policies of that namespace. A route for the host name of another tenant's Service takes its traffic.",
  source: 'CVE-2021-25740; Gateway API, ReferenceGrant',
  docs: "Send traffic only to Services in the tenant's namespaces. `parentRefs` may name the platform's Gateways. Leave EndpointSlices to Kubernetes, which creates them from the pods of a Service.",
  kinds: [...new Set([SERVICE, ...MANUAL, ...ANNOTATED, ...kindsNaming('service')])],
  *checkTenantObject(subject, context) {
    const { kind, node, who } = subject
    const fix = message`Set the backend to a Service in the tenant's namespaces.`
    for (const { path, value, what } of ofKubernetes(subject, context, node.tenant))
      yield subject.violation(path, value, {
        message: message`${who} ${what}.`,
        fix,
      })
    for (const { path, value, what } of foreignNames(subject, context, 'service')) {
      const host = hostOf(subject.text(path) ?? '')?.host ?? ''
      const isService = isShareable(insideOf(context.index, node.cluster, node.tenant, host, true))
      // ssrf-endpoint reports the others
      if (FLAGGER_KINDS.includes(kind) && path.at(-1) === 'address' && !isService) continue
      const problem = message`${who} sends traffic to ${what}, outside the tenant's namespaces. Allowed: Services in the tenant's namespaces.`
      yield subject.violation(path, value, { message: problem, fix })
    }
  },
}

interface Found {
  readonly path: Path
  readonly value: string
  readonly what: Message
}

function* ofKubernetes({ object, kind, node }: Subject, { index }: RuleContext, tenant: string): Iterable<Found> {
  if (MANUAL.includes(kind)) {
    const path = kind === '/Endpoints' ? ['subsets'] : ['endpoints']
    const list = at(object.root, path)
    if (list?.type !== 'list' || list.items.length === 0) return
    yield { path, value: 'addresses', what: message`names IP addresses, which can belong to any pod` }
  }
  if (kind !== SERVICE || stringAt(object.root, ['spec', 'type']) !== 'ExternalName') return
  const path = ['spec', 'externalName']
  const host = stringAt(object.root, path)?.trim() ?? ''
  const inside = insideOf(index, node.cluster, tenant, host, true)
  if (inside)
    yield {
      path,
      value: host.toLowerCase(),
      what: message`points to ${quoted('value', host)}, which is ${untyped(inside.what)}`,
    }
}

/** A value of a tenant's object that leads out of the tenant's namespaces. */
interface ForeignName {
  readonly path: Path
  readonly value: string
  readonly field: NamingField
  /** What it refers to, for messages. */
  readonly what: Message
}

/** References of an object out of its tenant's namespaces, by fields of its kind and by annotations. */
function* foreignNames(
  subject: TenantSubject,
  context: RuleContext,
  ...named: readonly Named[]
): Iterable<ForeignName> {
  const { root } = subject.object
  for (const field of fieldsNaming(subject.kind, ...named)) {
    for (const value of namedBy(root, field)) yield* evaluateForeignNames(subject, context, field, value)
  }
  for (const { field, path } of annotated(root, named)) {
    for (const value of namedAt(root, path, field)) yield* evaluateForeignNames(subject, context, field, value)
  }
}

/** Annotations of the object, and those that it sets on what is made of it, such as pods. */
function* annotated(
  root: Node,
  named: readonly Named[],
  path: Path = [],
): Iterable<{ field: NamingField; path: Path }> {
  // most objects have none, which this finds without building paths
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

function* evaluateForeignNames(
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
  // an object may name what the platform offers, not what belongs to another tenant
  if (field.shared) return index.ownerOf(node.cluster, namespace) !== undefined
  if (field.grantedBy === undefined || namespace === ANY_NAMESPACE) return true
  const [apiGroup = '', resource = '', subresource] = field.grantedBy.split('/')
  const request = { verb: 'create', apiGroup, resource, subresource, namespace, name }
  return !index.authorizer(node.cluster).allows(userInfo(node.identity.user), request)
}

/** `<namespace>-<name>`: the separator is ambiguous, so each matching namespace of another tenant counts. */
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
  // a name without a dot is a service of the object's own namespace
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

/** An Istio route without a gateway applies to calls between services. */
function isOfMesh(root: Node): boolean {
  if (stringAt(root, ['kind']) !== 'VirtualService') return false
  const gateways = textsOf(at(root, ['spec', 'gateways'])) ?? ['mesh']
  return gateways.length === 0 || gateways.includes('mesh')
}

/** Behind a name; an IPv6 address has more colons. */
const PORT = /(?<=^[^:]+):\d{1,5}$/

/** Meshes give such addresses to hosts that have none. */
const RESERVED = /multicast or reserved/

/** Fields of an unknown kind whose names suggest a namespace. */
const SUSPECTS = ['**.namespace', '**.namespaces.*', '**.targetNamespace', '**.matchNames.*']

/** References of an object of a kind outside the table, by fields whose names suggest another namespace. */
function* suspectedNames({ object, node }: TenantSubject, context: RuleContext): Iterable<ForeignName> {
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
