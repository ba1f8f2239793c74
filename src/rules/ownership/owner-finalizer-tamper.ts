import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { at, type Node } from '../../kube/node.ts'
import { groupOf, idOf } from '../../kube/object.ts'
import { codeWord, message } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'

/** Finalizers that a well-known controller takes off again. */
const KNOWN = ['foregroundDeletion', 'orphan']
const KNOWN_PREFIXES = ['kubernetes.io/', 'finalizers.fluxcd.io', 'resources-finalizer.argocd.argoproj.io']

/** Who is deleted with whom, and what holds a deletion up, is not for manifests to say. */
export const ownerFinalizerTamper: Rule = {
  id: 'owner-finalizer-tamper',
  severity: 'medium',
  title: 'ownerReferences or finalizers in a manifest',
  why: 'Kubernetes deletes an object with its owner, and the object can block the deletion of that owner. A finalizer without a controller blocks the deletion of the object, its namespace and the tenant.',
  source: 'Kubernetes: Owners and Dependents, Finalizers',
  docs: 'Remove `metadata.ownerReferences` and `metadata.finalizers`. Controllers set them.',
  kinds: 'every',
  *checkTenantObject(subject) {
    const { object } = subject
    const { apiVersion, kind } = idOf(object)
    const isNamespace = kind === 'Namespace' && groupOf(apiVersion) === ''
    const owners = at(object.root, ['metadata', 'ownerReferences'])
    // of a Namespace the rule namespace-ownership speaks
    if (owners && !isNamespace && !isNothing(owners)) yield owned(subject, owners)
    for (const place of [['metadata', 'finalizers'], ...(isNamespace ? [['spec', 'finalizers']] : [])]) {
      const finalizers = at(object.root, place)
      if (finalizers && !isNothing(finalizers)) yield* held(subject, place, finalizers)
    }
  },
}

function owned({ object, id, node }: Subject, owners: Node): Violation {
  const names = owners.type === 'list' ? owners.items.map(item => nameOf(item)) : [owners.type]
  return {
    node,
    object,
    path: ['metadata', 'ownerReferences'],
    value: [...names].sort().join(' '),
    message: message`${objectPart(id.kind, id.namespace, id.name)} names ${quoted('object', names.join(', '))} as its owner: Kubernetes would delete it with that owner, and it can block the owner's deletion. Allowed: none. The API server accepts it from anyone who can set finalizers of the owner.`,
    fix: message`Remove ${codeWord('metadata.ownerReferences')}.`,
    edit: { remove: true },
  }
}

function* held({ object, id, node }: Subject, path: readonly string[], finalizers: Node): Iterable<Violation> {
  const items = finalizers.type === 'list' ? finalizers.items : [finalizers]
  for (const item of items) {
    const text = item.type === 'scalar' ? String(item.value) : item.type
    if (KNOWN.includes(text) || KNOWN_PREFIXES.some(prefix => text.startsWith(prefix))) continue
    yield {
      node,
      object,
      path,
      value: text,
      level: 'warning',
      message: message`${objectPart(id.kind, id.namespace, id.name)} has the finalizer ${quoted('value', text)}: until it is removed, the object and its namespace cannot be deleted. Allowed: none.`,
      fix: message`Remove the finalizer ${quoted('value', text)}.`,
    }
  }
}

function nameOf(item: Node): string {
  const of = (key: string) => {
    const field = at(item, [key])
    return field?.type === 'scalar' ? String(field.value) : ''
  }
  return `${of('kind')} ${of('name')}`
}

function isNothing(node: Node): boolean {
  return node.type === 'scalar' ? node.value === null : node.type === 'list' && node.items.length === 0
}
