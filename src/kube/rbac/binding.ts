import { oncePer } from '../../base/once-per.ts'
import { at, type Node } from '../node.ts'
import { idOf, isLabelKey, isLabelValue, isSubdomain, type KubeObject } from '../object.ts'
import { type LabelSelector, listOf, readLabelSelector, textMapOf, textOf, textsOf } from '../read-fields.ts'
import { accountOf, type PolicyRule } from './policy-rule.ts'

export const RBAC_GROUP = 'rbac.authorization.k8s.io'

/** A Role (with a namespace) or a ClusterRole (without). */
export interface Role {
  readonly kind: 'Role' | 'ClusterRole'
  readonly namespace: string
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
  readonly rules: readonly PolicyRule[]
  /** Of a ClusterRole with an aggregationRule: the controller replaces its rules by those of the roles selected. */
  readonly selectors?: readonly LabelSelector[]
}

export interface RoleRef {
  /** `Role` or `ClusterRole`. */
  readonly kind: string
  readonly name: string
}

export interface BoundSubject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount'
  readonly name: string
  /** Of an account: its namespace, in a RoleBinding that of the binding where none is written. */
  readonly namespace: string
}

/** A RoleBinding (with a namespace) or a ClusterRoleBinding (without). */
export interface Binding {
  readonly kind: 'RoleBinding' | 'ClusterRoleBinding'
  readonly namespace: string
  readonly name: string
  readonly roleRef: RoleRef
  readonly subjects: readonly BoundSubject[]
}

/** `RoleBinding apps/dev-team`, `ClusterRole view`. */
export function displayRbac({
  kind,
  namespace,
  name,
}: {
  readonly kind: string
  readonly namespace: string
  readonly name: string
}): string {
  return namespace ? `${kind} ${namespace}/${name}` : `${kind} ${name}`
}

/**
 * A RoleBinding or ClusterRoleBinding with the API server's defaults; undefined where it would refuse it, so that it grants
 * nothing (ValidateRoleBinding and ValidateClusterRoleBinding of k8s.io/kubernetes pkg/apis/rbac/validation). Never throws.
 * Many ask about one binding, so each object is read once.
 */
export const readBinding = oncePer((object: KubeObject): Binding | undefined => {
  const { kind, namespace, name } = idOf(object)
  const namespaced = kind === 'RoleBinding'
  if ((!namespaced && kind !== 'ClusterRoleBinding') || !soundLabels(object) || (namespaced && !namespace))
    return undefined
  const roleRef = readRoleRef(at(object.root, ['roleRef']))
  const own = namespaced ? namespace : ''
  const subjects = listOf(at(object.root, ['subjects']), item => readSubject(item, own))
  if (!roleRef || !subjects || (!namespaced && roleRef.kind !== 'ClusterRole')) return undefined
  return { kind, namespace: own, name, roleRef, subjects }
})

function readRoleRef(node: Node | undefined): RoleRef | undefined {
  const kind = textOf(at(node, ['kind']))
  const name = textOf(at(node, ['name']))
  const group = textOf(at(node, ['apiGroup']))
  if (group === undefined || !name || !isRbacName(name)) return undefined
  if ((group || RBAC_GROUP) !== RBAC_GROUP || (kind !== 'Role' && kind !== 'ClusterRole')) return undefined
  return { kind, name }
}

function readSubject(node: Node, bindingNamespace: string): BoundSubject | undefined {
  const kind = textOf(at(node, ['kind']))
  const name = textOf(at(node, ['name']))
  const group = textOf(at(node, ['apiGroup']))
  const written = textOf(at(node, ['namespace']))
  if (!name || group === undefined || written === undefined) return undefined
  if (kind === 'ServiceAccount') {
    const namespace = written || bindingNamespace
    return group === '' && isSubdomain(name) && namespace ? { kind, name, namespace } : undefined
  }
  if (kind !== 'User' && kind !== 'Group') return undefined
  // the authorizer compares names: a user that spells an account is that account
  const account = kind === 'User' && (group || RBAC_GROUP) === RBAC_GROUP ? accountOf(name) : undefined
  if (account) return { kind: 'ServiceAccount', ...account }
  return (group || RBAC_GROUP) === RBAC_GROUP ? { kind, name, namespace: '' } : undefined
}

/**
 * A Role or ClusterRole; undefined where the API server would refuse it, so that it grants nothing (ValidateRole and
 * ValidateClusterRole of k8s.io/kubernetes pkg/apis/rbac/validation). Never throws.
 */
export function readRole(object: KubeObject): Role | undefined {
  const { kind, namespace, name } = idOf(object)
  const namespaced = kind === 'Role'
  if ((!namespaced && kind !== 'ClusterRole') || (namespaced && !namespace)) return undefined
  const labels = soundLabels(object)
  const rules = readRules(at(object.root, ['rules']), namespaced)
  const selectors = namespaced ? null : readAggregation(at(object.root, ['aggregationRule']))
  if (!labels || !rules || selectors === undefined) return undefined
  const role: Role = { kind, namespace: namespaced ? namespace : '', name, labels, rules }
  return selectors ? { ...role, selectors } : role
}

/** The rules of a `rules` field; undefined where the API server would refuse one of them. */
function readRules(node: Node | undefined, namespaced: boolean): PolicyRule[] | undefined {
  return listOf(node, item => readRule(item, namespaced))
}

function readRule(node: Node, namespaced: boolean): PolicyRule | undefined {
  const verbs = textsOf(at(node, ['verbs']))
  const apiGroups = textsOf(at(node, ['apiGroups']))
  const resources = textsOf(at(node, ['resources']))
  const resourceNames = textsOf(at(node, ['resourceNames']))
  const nonResourceURLs = textsOf(at(node, ['nonResourceURLs']))
  if (!verbs || !apiGroups || !resources || !resourceNames || !nonResourceURLs || verbs.length === 0) return undefined
  const ofResources = apiGroups.length > 0 && resources.length > 0
  const ofPaths = !namespaced && apiGroups.length + resources.length + resourceNames.length === 0
  if (nonResourceURLs.length > 0 ? !ofPaths : !ofResources) return undefined
  return { verbs, apiGroups, resources, resourceNames, nonResourceURLs }
}

/** null: no aggregation; undefined: refused. */
function readAggregation(node: Node | undefined): LabelSelector[] | null | undefined {
  if (node === undefined || (node.type === 'scalar' && node.value === null)) return null
  if (node.type !== 'map') return undefined
  const selectors = listOf(at(node, ['clusterRoleSelectors']), readLabelSelector)
  return selectors && selectors.length > 0 ? selectors : undefined
}

/**
 * The labels of a role or binding whose name, labels and annotations the API server takes; undefined where it refuses them
 * (ValidateObjectMeta and IsPathSegmentName of k8s.io/apimachinery).
 */
function soundLabels(object: KubeObject): ReadonlyMap<string, string> | undefined {
  if (!isRbacName(idOf(object).name)) return undefined
  const labels = textMapOf(at(object.root, ['metadata', 'labels']))
  const annotations = textMapOf(at(object.root, ['metadata', 'annotations']))
  if (!labels || !annotations) return undefined
  const sound = [...labels].every(([key, value]) => isLabelKey(key) && isLabelValue(value))
  // annotations may be written in upper case
  return sound && [...annotations.keys()].every(key => isLabelKey(key.toLowerCase())) ? labels : undefined
}

/** Whether a role or binding may be called so. */
function isRbacName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !name.includes('%')
}
