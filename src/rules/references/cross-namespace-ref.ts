import { namespacePart, objectPart } from '../../facts/shown.ts'
import type { TenantSubject } from '../../facts/subject.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { type Reference, references } from '../../flux/references.ts'
import type { Named } from '../../kube/capabilities/capability.ts'
import { EMBEDDINGS } from '../../kube/capabilities/embeddings.ts'
import type { Path } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { message, untyped } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { keepsNamespace } from '../namespaces/support/keeps-namespace.ts'
import { type ForeignName, foreignNames, suspectedNames } from './support/foreign-names.ts'
import { isUnlooked } from './support/is-unlooked.ts'
import { type AccessFrom, accessOf, hasNamesake } from './support/source-access.ts'

/** A tenant's object may refer only to objects of the tenant's own namespaces. */
export const crossNamespaceRef: Rule = {
  id: 'cross-namespace-ref',
  severity: 'critical',
  title: 'Reference to an object in another namespace',
  why: 'A reference to a source in another namespace deploys with the credentials of that source. An object that depends on, watches or triggers objects of another namespace can read their state and delay them. Flux rejects only some of these references, and only with `--no-cross-namespace-refs`. Other controllers read, copy and write across namespaces with their own rights.',
  source: 'fluxcd/flux2 discussion 263; RFC-0001 and RFC-0002; kustomize-controller --no-cross-namespace-refs',
  docs: "Remove `namespace` from the reference and declare the source in the namespace of the object. On clusters without `--no-cross-namespace-refs`, the owner of a source can open it with an access control list (`source-acl`). With the flag, Flux rejects every cross-namespace reference. The table of reference fields is src/kube/capabilities. For kinds outside the table, a namespace field that names another tenant's namespace is a warning.",
  kinds: 'every',
  *checkObject(subject, context) {
    const { object, node } = subject
    for (const reference of references(object)) {
      const violation = evaluateFleet(context, node, object, reference)
      if (violation) yield violation
    }
    if (node.tenant !== undefined) yield* ofOtherControllers(subject as TenantSubject, context)
  },
}

/** What other controllers than Flux's would read, write or hand out for the object, with rights of their own. */
function* ofOtherControllers(subject: TenantSubject, context: RuleContext): Iterable<Violation> {
  for (const name of foreignNames(subject, context, 'namespace', 'secret', 'configMap', 'identity', 'volume', 'object'))
    yield foreign(subject, name)
  if (!isUnlooked(subject, context.index)) return
  for (const name of suspectedNames(subject, context)) {
    if (!isOfEmbedded(subject, name)) yield { ...foreign(subject, name), level: 'warning' }
  }
}

/** The namespace of an object inside of another one is that object's, which is evaluated by itself. */
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

function foreign({ object, id, node }: TenantSubject, { path, value, field, what }: ForeignName): Violation {
  const noun = NOUNS[field.names]
  const verb = field.access === 'write' ? 'writes to' : 'names'
  return {
    node,
    object,
    path,
    value,
    message: message`${objectPart(id.kind, id.namespace, id.name)} ${verb} ${noun === undefined ? '' : message`${untyped(noun)} `}${what}, which does not belong to the tenant. Allowed: ${namespacePart(id.namespace)}. The controller would act there with its own rights.`,
    fix: message`Set the reference to an object of ${namespacePart(id.namespace)}.`,
    clusterAnswer: 'none: the API server accepts it',
    ...allowedAt(path, id.namespace),
    ...(field.level ? { level: field.level } : {}),
  }
}

function evaluateFleet(
  context: RuleContext,
  node: FleetNode,
  object: KubeObject,
  reference: Reference,
): Violation | undefined {
  const { index } = context
  const { kind, namespace, name } = idOf(object)
  const target = reference.namespace
  if (target === null || target === namespace) return undefined
  const locked = reference.refusedByFlux && index.cluster(node.cluster)?.lockdown.noCrossNamespaceRefs === true
  // What the platform writes into a tenant's namespace is its own affair, except where Flux would refuse to act on it.
  const tenant = index.actsFor(node, object)
  if (tenant === undefined || (node.tenant === undefined && !locked)) return undefined
  if (!locked && keepsNamespace(context, node.cluster, tenant, target)) return undefined
  const access = accessOf(index, node.cluster, namespace, reference)
  // Without Flux's own refusal the owner of the source decides; whom the list does not let in is for the rule source-acl.
  if (!locked && access !== 'none') return undefined
  const who = objectPart(kind, namespace, name)
  const what = objectPart(reference.kind, target, reference.name)
  const answer = fluxAnswer(reference, locked, access)
  return {
    node: index.nodeOf(node.cluster, object) ?? node,
    renderedBy: node,
    object,
    path: reference.path,
    value: `${reference.kind}/${target}/${reference.name}`,
    message: message`${who} refers to ${what}, which is in another namespace. Allowed: ${namespacePart(namespace)}.${untyped(shownSafe(answer))}`,
    ...fixOf(context, node, namespace, reference),
  }
}

/** Without `namespace` it would be an object of the own namespace, which is an edit only where there is one. */
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

/** An object without a namespace has none to name. */
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

/** Flux's own words quote what the author wrote; odd characters of that are shown as their numbers. */
function shownSafe(text: string): string {
  return text.replace(/[^\x20-\x7e]/gu, character => `\\u{${character.codePointAt(0)!.toString(16)}}`).slice(0, 600)
}
