import { BailiwickError } from '../../errors.ts'
import { isAbsent } from '../../kube/edit-node.ts'
import { at, type Node, stringAt } from '../../kube/node.ts'
import type { Resource } from '../resource/resource.ts'

/**
 * Namespaces of the accounts that a RoleBinding names, as they are written (getNamespacesForRoleBinding, 5.8.1). Throws
 * `kustomize-invalid` for one that is blank, `kustomize-unsupported` where kustomize panics.
 */
export function accountNamespaces(referrer: Resource): ReadonlySet<string> {
  const subjects = at(referrer.root, ['subjects'])
  if (subjects?.type !== 'list' || stringAt(referrer.root, ['kind']) !== 'RoleBinding') return NONE
  const namespaces = new Set<string>()
  for (const subject of subjects.items) {
    if (subject.type !== 'map') return panics('subjects: an item is not a map', subject)
    const namespace = subject.fields.get('namespace')?.value
    const kind = subject.fields.get('kind')?.value
    if (!namespace || !kind) continue
    if (kind.type !== 'scalar' || typeof kind.value !== 'string') return panics('subjects: kind is not a string', kind)
    if (kind.value !== 'ServiceAccount') continue
    if (namespace.type === 'scalar' && typeof namespace.value === 'string') namespaces.add(namespace.value)
    else throw new BailiwickError('kustomize-invalid', 'subjects: namespace is blank', { origin: namespace.origin })
  }
  return namespaces
}

const NONE: ReadonlySet<string> = new Set()

/** What a roleRef says of the kind that it means; undefined where it does not say all of it. */
export function roleRefParts(referrer: Resource): { group: Node; kind: Node } | undefined {
  const roleRef = at(referrer.root, ['roleRef'])
  if (isAbsent(roleRef) || roleRef.type !== 'map') return undefined
  const group = roleRef.fields.get('apiGroup')?.value
  const kind = roleRef.fields.get('kind')?.value
  return group && kind ? { group, kind } : undefined
}

function panics(message: string, node: Node): never {
  throw new BailiwickError('kustomize-unsupported', `${message}. kustomize panics on it`, { origin: node.origin })
}
