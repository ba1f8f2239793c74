import { type LabelSelector, readLabelSelector } from '../label-selector.ts'
import { at, type Node } from '../node.ts'
import { idOf, type KubeObject } from '../object.ts'
import { listOf, textsOf } from '../read-text.ts'
import type { Role } from './binding.ts'
import type { PolicyRule } from './policy-rule.ts'
import { soundLabels } from './sound-metadata.ts'

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
