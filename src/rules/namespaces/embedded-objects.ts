import { asMessage, type Message, message, part, plainText, untyped } from '../../base/message.ts'
import { oncePerName } from '../../base/once-per.ts'
import { hashOf } from '../../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { kindOf } from '../../fleet/facts/object-table.ts'
import { identityPart, objectPart, quoted, shown, shownName } from '../../fleet/facts/shown.ts'
import type { FleetNode, Identity } from '../../fleet/model/fleet.ts'
import { accountOf, applierKinds } from '../../fleet/model/kustomization-spec.ts'
import { type EmbeddedObject, embeddedIn, type Unevaluated } from '../../kube/capabilities/embedded-objects.ts'
import { GIT_REPOSITORY, HELM_RELEASE, KUSTOMIZATION } from '../../kube/flux-kinds.ts'
import { at, canonical, type Node, type Path, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { accountOf as partsOfUser, userOfAccount } from '../../kube/rbac/policy-rule.ts'
import { readableDocuments } from '../../kube/yaml/parse-documents.ts'
import { everyPath } from '../model/object-values.ts'
import { type Rule, type RuleContext, Subject, type TenantSubject, type Violation } from '../model/rule.ts'

/** Objects that controllers create for a tenant are evaluated, or listed as not evaluated. */
export const embeddedContent: Rule = {
  id: 'embedded-content',
  severity: 'high',
  title: 'Objects from a controller that cannot be evaluated',
  why: 'A controller that creates objects from another object applies them with its own rights or as a named account. A template, a chart or content of another source can contain any object. Reviewers do not see it before it is applied.',
  source: 'CVE-2026-22872, CVE-2025-55205; the APIs of the kinds in src/kube/capabilities/embeddings.ts',
  docs: "Write the objects as plain manifests, without placeholders, in the tenant's repository. The finding is a warning where the fleet's RBAC confines the applying account to the tenant's namespaces. It is a violation where the controller uses its own rights or an account with more rights.",
  kinds: 'every',
  *checkTenantObject({ object, node }, context) {
    const { unevaluated, objects } = embeddedIn(object)
    for (const one of unevaluated) yield notEvaluated(node, context, one)
    for (const one of objects) yield* notFollowed(new Subject({ node, object: one.object }), context)
  },
}

const WHY: Readonly<Record<Exclude<Unevaluated['why'], 'content'>, string>> = {
  template: 'a template with placeholders',
  text: 'a text that is not a list of objects',
  depth: 'nested deeper than objects are followed (render-limits)',
}

function notEvaluated(node: FleetNode, { index }: RuleContext, one: Unevaluated): Violation {
  const { holder, path, place, why } = one
  const identity = applierOf(index, node.cluster, one)
  const what = why === 'content' ? (place.says ?? 'content') : WHY[why]
  const found = violation(new Subject({ node, object: holder }), index, path, what, identity)
  return why === 'depth' ? { ...found, level: 'error' } : found
}

/** Kustomizations and sources that a controller creates are not in the graph. */
function* notFollowed(subject: Subject, { index }: RuleContext): Iterable<Violation> {
  const { object, kind, id, node } = subject
  const path = ['spec']
  if (kind === GIT_REPOSITORY) {
    // a Kustomization that deploys from it is reported by itself
    const what = 'the content of a source that a controller makes'
    yield subject.violation(path, contentValue(what, subject, path), {
      level: 'warning',
      message: message`${subject.who}: ${what} is not evaluated. Neither is what is deployed from it. Allowed: a source in a manifest.`,
      fix: message`Write the GitRepository in a separate manifest.`,
    })
  } else if (kind === KUSTOMIZATION) {
    const account = accountOf(object, index.cluster(node.cluster)?.lockdown)
    const identity = account
      ? { user: userOfAccount(id.namespace, account), impersonated: true }
      : { user: 'the controller of Kustomization', impersonated: false }
    const what = 'what a Kustomization renders that a controller makes'
    yield violation(subject, index, path, what, identity)
  }
}

/** Other content is another finding. */
function contentValue(what: string, subject: Subject, path: Path): string {
  const node = subject.at(path)
  return `${what} ${node ? hashOf([canonical(node)]) : ''}`
}

function violation(subject: Subject, index: FleetIndex, path: Path, what: string, identity: Identity): Violation {
  const further = reachOf(subject.node, index, identity)
  const confined = further ?? "which the fleet's RBAC confines to the tenant's namespaces"
  return subject.violation(path, contentValue(what, subject, path), {
    level: further === undefined ? 'warning' : 'violation',
    message: message`${subject.who}: ${untyped(what)} is not evaluated. It is applied by ${identityPart(identity)}${further === '' ? '' : message`, ${untyped(confined)}`}. Allowed: objects in manifests.`,
    fix: message`Write the objects in separate manifests, without placeholders.`,
  })
}

/** Why the identity that applies something may do more than the tenant; undefined: it is confined. */
function reachOf(node: FleetNode, index: FleetIndex, identity: Identity): string | undefined {
  const account = identity.impersonated ? partsOfUser(identity.user) : undefined
  if (!account || node.tenant === undefined) return ''
  const reach = index.reachOutside(node.cluster, node.tenant, account.namespace, account.name)
  return reach && `which is not confined to the tenant's namespaces: ${shown(reach).slice(1, -1)}`
}

/** Kubernetes' own lists, whose items state their kind. */
const PLAIN = new Set(['List', 'ResourceList'])

/** Objects in a list are applied like any others, so the list must not hide their kind. */
export const embeddedItems: Rule = {
  id: 'embedded-items',
  severity: 'high',
  title: 'Objects in a list of another kind',
  why: 'kustomize replaces every object whose kind ends in `List` by its items. Flux does so for every object with a list in `items`. A reviewer who reads the list as one object overlooks the objects in it.',
  source: 'kustomize api/resource/factory.go (inlineAnyEmbeddedLists), fluxcd/pkg ssa (ReadObjects)',
  docs: 'Write each object as a separate document. Allowed: `kind: List` of `apiVersion: v1`, and a list named after the kind of its items (`RoleBindingList` of RoleBindings). A list in a list is not allowed.',
  kinds: 'every',
  *checkTenantObject(subject) {
    const { listing } = subject.object
    if (!listing) return
    const says = problem(listing, subject.id)
    if (says === undefined) return
    yield subject.violation([], `${listing.apiVersion} ${listing.kind}${listing.isNested ? ' nested' : ''}`, {
      message: message`${subject.who} is in ${says}. Flux applies it like any other object. Allowed: separate documents, or a List of apiVersion v1.`,
      fix: message`Write the object as a separate document.`,
    })
  },
}

function problem(
  listing: { readonly apiVersion: string; readonly kind: string; readonly isNested: boolean },
  id: ReturnType<typeof idOf>,
): Message | undefined {
  const list = message`a ${quoted('object', listing.kind)} of ${quoted('object', listing.apiVersion)}`
  if (listing.isNested) return message`${list} that is itself in a list`
  if (PLAIN.has(listing.kind)) {
    const known = listing.apiVersion === 'v1' || listing.apiVersion.startsWith('config.kubernetes.io/')
    return known ? undefined : message`${list}, which is not a Kubernetes list kind`
  }
  // tools write lists of any kind under v1
  const isOfGroup = listing.apiVersion === 'v1' || groupOf(listing.apiVersion) === groupOf(id.apiVersion)
  const isOfKind = listing.kind === `${id.kind}List` && isOfGroup
  return isOfKind ? undefined : message`${list}, which is a list kind of other objects`
}

/** The identity that applies what is at a place of an object: an account of its namespace, or its kind's controller. */
function applierOf(
  index: FleetIndex,
  cluster: string,
  { holder, place }: Pick<EmbeddedObject, 'holder' | 'place'>,
): Identity {
  const { kind, namespace } = idOf(holder)
  const controller = { user: `the controller of ${shownName(kind)}`, impersonated: false }
  if (place.by === 'controller') return controller
  const isApplier = applierKinds.includes(kindOf(holder))
  const written = isApplier
    ? accountOf(holder, index.cluster(cluster)?.lockdown)
    : stringAt(holder.root, place.by.at.split('.'))
  const name = (written ?? '').trim() || (place.by.otherwise === 'default' ? 'default' : '')
  return name === '' ? controller : { user: userOfAccount(namespace, name), impersonated: true }
}

const nodes = oncePerName<FleetNode, FleetNode>()

/** The node, with the identity that applies an embedded object. */
export function applyingNode(index: FleetIndex, node: FleetNode, embedded: EmbeddedObject): FleetNode {
  const identity = applierOf(index, node.cluster, embedded)
  if (identity.user === node.identity.user && identity.impersonated === node.identity.impersonated) return node
  return nodes(node, identity.user, () => ({ ...node, identity }))
}

/** An embedded object's findings, with the object that holds it; an automatic fix of a file does not apply there. */
export function* within({ holder }: EmbeddedObject, violations: Iterable<Violation>): Iterable<Violation> {
  const { kind, namespace, name } = idOf(holder)
  const where = objectPart(kind, namespace, name)
  for (const { edit: _edit, ...violation } of violations) {
    const by = identityPart(violation.node.identity)
    yield {
      ...violation,
      value: `${violation.value} in ${kind} ${namespace}/${name}`,
      message: message`${asMessage(violation.message)} It is in ${where}; ${by} applies it.`,
    }
  }
}

/** A patch of a release to objects that its chart renders. */
interface Change {
  /** The field of the release that holds the patch. */
  readonly path: Path
  /** The part of an object that it writes, as a JSON pointer; undefined: the patch cannot be read. */
  readonly pointer: string | undefined
  /** The value it writes; undefined if it is moved or copied from another part. */
  readonly value?: Node
}

interface FoundPatch {
  readonly what: Message
  readonly level?: 'warning'
}

/** Parts of an object that decide what it grants and to whom. */
const GRANTS = ['subjects', 'roleRef', 'rules', 'aggregationRule']

/** Rendered chart objects stay where the release puts them, and what the chart makes them. */
export const helmPostRenderer: Rule = {
  id: 'helm-post-renderer',
  severity: 'high',
  title: 'Post-renderer that moves or replaces objects',
  why: "After all other settings of the release, a post-renderer patch can change the namespace or kind of a chart's object. Bailiwick does not render the chart, so no other rule finds it.",
  source: 'helm-controller internal/postrender/kustomize.go',
  docs: "Set `spec.targetNamespace` for all objects of the release. Patches may change replicas, images, resources, labels and similar fields. A patch of RBAC rules, `subjects` or `roleRef` is a warning: the API server rejects rights that the release's account does not have.",
  kinds: [HELM_RELEASE],
  *checkTenantObject(subject, context) {
    for (const change of changesOf(subject.object)) {
      const found = problemOf(change, subject, context)
      if (found) yield postRendererViolation(subject, change, found)
    }
  },
}

function problemOf(change: Change, { node }: TenantSubject, { index }: RuleContext): FoundPatch | undefined {
  const { pointer, value } = change
  if (pointer === undefined) return { what: message`holds a patch that cannot be read as YAML or JSON` }
  const moved = (namespace: string | undefined): FoundPatch | undefined => {
    if (namespace === undefined) return { what: message`moves objects to a namespace that it does not name` }
    if (index.owns(node.cluster, node.tenant, namespace)) return undefined
    return { what: message`moves objects to namespace ${quoted('object', namespace)}` }
  }
  if (pointer === '/metadata/namespace') return moved(value && stringAt(value, []))
  if (pointer === '/metadata')
    return value?.type === 'map' && !at(value, ['namespace']) ? undefined : moved(stringAt(value, ['namespace']))
  if (pointer === '') return { what: message`replaces whole objects` }
  if (pointer === '/kind' || pointer === '/apiVersion')
    return { what: message`makes another kind of objects by ${part('field', pointer)}` }
  const [, grant = ''] = pointer.split('/')
  return GRANTS.includes(grant)
    ? { what: message`writes the ${part('field', grant)} of roles or bindings`, level: 'warning' }
    : undefined
}

/** Every patch of every post-renderer, also in fields of older versions of HelmRelease. */
function* changesOf({ root }: KubeObject): Iterable<Change> {
  const kustomize = ['spec', 'postRenderers', '*', 'kustomize']
  for (const path of everyPath(root, [...kustomize, 'patches', '*', 'patch'])) yield* changesOfText(root, path)
  for (const path of everyPath(root, [...kustomize, 'patchesStrategicMerge', '*'])) yield* merged(at(root, path)!, path)
  for (const path of everyPath(root, [...kustomize, 'patchesJson6902', '*', 'patch', '*'])) {
    yield operation(at(root, path)!, path)
  }
}

/** A patch in a text: JSON6902 operations, or an object to merge. */
function* changesOfText(root: Node, path: Path): Iterable<Change> {
  const text = stringAt(root, path)
  const documents =
    text === undefined ? undefined : readableDocuments({ repository: '', path: 'patch' }, Buffer.from(text))
  if (!documents) yield { path, pointer: undefined }
  for (const document of documents ?? []) {
    if (document.type === 'list') for (const item of document.items) yield operation(item, path)
    else yield* merged(document, path)
  }
}

function operation(node: Node, path: Path): Change {
  const op = stringAt(node, ['op'])
  const pointer = stringAt(node, ['path'])?.replace(/~[01]/g, code => (code === '~1' ? '/' : '~'))
  if (op === undefined || pointer === undefined) return { path, pointer: undefined }
  const value = op === 'add' || op === 'replace' ? at(node, ['value']) : undefined
  // `test` and `remove` write no value
  return op === 'test' || op === 'remove' ? { path, pointer: '/' } : { path, pointer, ...(value ? { value } : {}) }
}

/** kustomize keeps name, namespace and kind of what a merge patch selects, so only grants can change. */
function* merged(document: Node, path: Path): Iterable<Change> {
  if (document.type !== 'map') {
    yield { path, pointer: undefined }
    return
  }
  for (const part of GRANTS) {
    const value = at(document, [part])
    if (value) yield { path, pointer: `/${part}`, value }
  }
}

function postRendererViolation(
  subject: TenantSubject,
  { path, pointer = '' }: Change,
  { what, level }: FoundPatch,
): Violation {
  return subject.violation(path, `${pointer} ${plainText(what)}`, {
    message: message`${subject.who}: a patch of its post-renderer ${what}. Allowed: patches that keep the kind and namespace.`,
    fix: message`Remove the patch, or set spec.targetNamespace to one of the tenant's namespaces.`,
    ...(level ? { level } : {}),
  })
}
