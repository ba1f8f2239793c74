import { SOURCE_GROUP, sourceNamed, TENANT_LABEL_KEY } from '../flux/kinds.ts'
import { at, type MapNode, stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import type { Placed } from './belongings.ts'
import { type Choose, type Rewritten, rewrite } from './rewrite.ts'

/** A renamed tenant and its namespaces by cluster. */
export interface Renaming {
  readonly from: string
  readonly to: string
  /** Takes a cluster and a namespace. */
  readonly isOwn: (cluster: string, namespace: string) => boolean
}

const ACCOUNT_KEYS = new Set(['serviceAccountName', 'serviceAccount'])
const isBinding = (object: KubeObject) =>
  groupOf(idOf(object).apiVersion) === 'rbac.authorization.k8s.io' && idOf(object).kind.endsWith('Binding')

/** Whether an object is an account or source with the tenant's name, or a binding of such an account. */
export function isNamedAfter({ node, object }: Placed, renaming: Renaming): boolean {
  if (isBinding(object)) return rewrite(object.root, accountTexts(node.cluster, renaming)).texts.length > 0
  const { apiVersion, kind, namespace, name } = idOf(object)
  const group = groupOf(apiVersion)
  const isNamed = name === renaming.from && renaming.isOwn(node.cluster, namespace)
  return isNamed && (group === SOURCE_GROUP || (group === '' && kind === 'ServiceAccount'))
}

/** A copy of such an object for the new name. */
export function successorOf({ node, object }: Placed, renaming: Renaming): Rewritten {
  const { from, to } = renaming
  const accounts = accountTexts(node.cluster, renaming)
  return rewrite(object.root, (text, path, parent) => {
    if (path.length === 2 && path[0] === 'metadata' && path[1] === 'name') return successorName(text, from, to)
    return isBinding(object) ? accounts(text, path, parent) : undefined
  })
}

/** `from-reconciler` becomes `to-reconciler`; a name that does not contain the old one gets the new one as a prefix. */
function successorName(name: string, from: string, to: string): string {
  const parts = name.split(/([.:-])/)
  const own = from.split(/([.:-])/)
  const start = parts.findIndex((_, index) => own.every((part, of) => parts[index + of] === part))
  return start < 0 ? `${to}-${name}` : parts.toSpliced(start, own.length, to).join('')
}

/** Replaces the subjects of a binding that name the account. */
function accountTexts(cluster: string, { from, to, isOwn }: Renaming): Choose {
  return (text, path, parent) => {
    if (path[0] !== 'subjects' || path.at(-1) !== 'name') return undefined
    const kind = stringAt(parent, ['kind'])
    if (kind === 'ServiceAccount') {
      return text === from && isOwn(cluster, stringAt(parent, ['namespace']) ?? '') ? to : undefined
    }
    const namespace = /^system:serviceaccount:([^:]+):/.exec(text)?.[1]
    if (namespace === undefined || !isOwn(cluster, namespace)) return undefined
    return text === `system:serviceaccount:${namespace}:${from}`
      ? `system:serviceaccount:${namespace}:${to}`
      : undefined
  }
}

/** An object that stays, with the tenant's new label and with references to renamed objects. `hasOne`: whether a renamed object of that kind exists in the namespace. */
export function relabelled(
  { node: { cluster }, object }: Placed,
  renaming: Renaming,
  hasOne: (group: string, kind: string, namespace: string) => boolean,
): Rewritten {
  const { from, to } = renaming
  const { namespace } = idOf(object)
  const hasPods = at(object.root, ['spec', 'template']) !== undefined
  const isReference = (key: unknown, parent: MapNode): boolean => {
    const kind = stringAt(parent, ['kind']) ?? (key === 'sourceRef' ? 'GitRepository' : undefined)
    if (kind === undefined) return false
    const of = stringAt(parent, ['namespace']) ?? namespace
    return groupOf(sourceNamed(kind)) === SOURCE_GROUP && hasOne(SOURCE_GROUP, kind, of) && renaming.isOwn(cluster, of)
  }
  return rewrite(object.root, (text, path, parent) => {
    if (text !== from) return undefined
    const key = path.at(-1)
    if (key === TENANT_LABEL_KEY) {
      // a workload's selector is immutable, so the labels of its Pods must stay
      return path.length === 3 && path[0] === 'metadata' ? to : hasPods ? undefined : to
    }
    if (path[0] === 'metadata' || isBinding(object)) return undefined
    if (ACCOUNT_KEYS.has(String(key)) && renaming.isOwn(cluster, namespace)) {
      return hasOne('', 'ServiceAccount', namespace) ? to : undefined
    }
    return key === 'name' && isReference(path.at(-2), parent) ? to : undefined
  })
}
