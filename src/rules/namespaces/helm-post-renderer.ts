import { objectPart, quoted } from '../../facts/shown.ts'
import type { TenantSubject } from '../../facts/subject.ts'
import { HELM_RELEASE } from '../../flux/kinds.ts'
import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { readableDocuments } from '../../kube/yaml/readable-documents.ts'
import { type Message, message, part, plainText } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { everyPath } from '../workloads/support/every-path.ts'

/** What a patch of a release does to the objects that its chart renders. */
interface Change {
  /** The field of the release that holds the patch. */
  readonly path: Path
  /** The part of an object that it writes, as a JSON pointer; undefined: the patch cannot be read. */
  readonly pointer: string | undefined
  /** What it writes there; undefined where it is moved or copied from another part. */
  readonly value?: Node
}

interface Found {
  readonly what: Message
  readonly level?: 'warning'
}

/** Parts of an object that decide what it grants and to whom. */
const GRANTS = ['subjects', 'roleRef', 'rules', 'aggregationRule']

/** What a chart renders stays where the release puts it, and what the chart makes it. */
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
      if (found) yield violation(subject, change, found)
    }
  },
}

function problemOf(change: Change, { node }: TenantSubject, { index }: RuleContext): Found | undefined {
  const { pointer, value } = change
  if (pointer === undefined) return { what: message`holds a patch that cannot be read as YAML or JSON` }
  const moved = (namespace: string | undefined): Found | undefined => {
    if (namespace === undefined)
      return { what: message`moves objects to a namespace that the patch does not spell out` }
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

/** Every patch of every post-renderer, also in the fields of older versions of HelmRelease. */
function* changesOf({ root }: KubeObject): Iterable<Change> {
  const kustomize = ['spec', 'postRenderers', '*', 'kustomize']
  for (const path of everyPath(root, [...kustomize, 'patches', '*', 'patch'])) yield* changesOfText(root, path)
  for (const path of everyPath(root, [...kustomize, 'patchesStrategicMerge', '*'])) yield* merged(at(root, path)!, path)
  for (const path of everyPath(root, [...kustomize, 'patchesJson6902', '*', 'patch', '*'])) {
    yield operation(at(root, path)!, path)
  }
}

/** A patch in a text: operations of JSON6902, or an object to merge. */
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
  // what is only compared or taken away is written nowhere
  return op === 'test' || op === 'remove' ? { path, pointer: '/' } : { path, pointer, ...(value ? { value } : {}) }
}

/** kustomize keeps name, namespace and kind of what a merge patch selects; only what it grants changes. */
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

function violation(
  { object, id, node }: TenantSubject,
  { path, pointer = '' }: Change,
  { what, level }: Found,
): Violation {
  return {
    node,
    object,
    path,
    value: `${pointer} ${plainText(what)}`,
    message: message`${objectPart(id.kind, id.namespace, id.name)}: a patch of its post-renderer ${what}. Allowed: patches that keep the kind and namespace.`,
    fix: message`Remove the patch, or set spec.targetNamespace to one of the tenant's namespaces.`,
    ...(level ? { level } : {}),
  }
}
