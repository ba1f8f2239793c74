import { readLabelSelector, selects } from '../../kube/label-selector.ts'
import { at, itemsOf, type Node, stringAt } from '../../kube/node.ts'
import { groupOf } from '../../kube/object.ts'
import { textsOf } from '../../kube/read-text.ts'
import type { AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { type KnownLabels, labelsOf, namespaceLabelsOf } from '../admission/namespace-value.ts'

/** Whether a policy applies to a request; a text: why that is not known. */
type Matched = boolean | string

/** Kinds that no policy of admission sees, so that nobody locks himself out. */
const EXEMPT = /^(?:validating|mutating)(?:webhookconfigurations|admissionpolicies|admissionpolicybindings)$/

/**
 * `matchConstraints` of a policy, or `matchResources` of a binding; without rules everything matches, as for a binding
 * (k8s.io/apiserver pkg/admission/plugin/policy/matching).
 */
export function isMatched(world: AdmissionWorld, match: Node | undefined, request: AdmissionRequest): Matched {
  const group = groupOf(request.id.apiVersion)
  if (group === 'admissionregistration.k8s.io' && EXEMPT.test(request.resource)) return false
  if (!match) return true
  const isEquivalent = (stringAt(match, ['matchPolicy']) ?? 'Equivalent') !== 'Exact'
  const rules = itemsOf(at(match, ['resourceRules']))
  if (itemsOf(at(match, ['excludeResourceRules'])).some(rule => covers(rule, request, isEquivalent))) return false
  const found = rules.filter(rule => covers(rule, request, isEquivalent))
  if (rules.length > 0 && found.length === 0) return false
  const selected = isSelected(world, match, request)
  if (selected !== true || rules.length === 0 || found.some(rule => covers(rule, request, false))) return selected
  return `the API server converts ${request.id.apiVersion} to the version that the policy names`
}

/** Both selectors. */
function isSelected(world: AdmissionWorld, match: Node, request: AdmissionRequest): Matched {
  const ofNamespace = namespaceLabelsOf(world, request)
  // of what is in no namespace nothing is asked
  const namespaced = ofNamespace ? bySelector(at(match, ['namespaceSelector']), [ofNamespace]) : true
  if (namespaced === false) return false
  const sides = [request.object, ...(request.old ? [request.old] : [])]
  const object = bySelector(
    at(match, ['objectSelector']),
    sides.map(side => ({ labels: labelsOf(side), isComplete: true })),
  )
  return object === true ? namespaced : object
}

function bySelector(node: Node | undefined, sides: readonly KnownLabels[]): Matched {
  if (!node) return true
  const selector = readLabelSelector(node)
  if (!selector) return 'its selector is not one that the API server accepts'
  const unclear = sides.some(({ labels, isComplete }) => !isComplete && selector.some(({ key }) => !labels.has(key)))
  if (unclear) return 'it selects by labels of a Namespace that is not in the fleet'
  return sides.some(({ labels }) => selects(selector, labels))
}

function covers(rule: Node, request: AdmissionRequest, isEquivalent: boolean): boolean {
  const { id, operation, resource, isNamespaced } = request
  const [groups, versions, resources, operations, names] = [
    'apiGroups',
    'apiVersions',
    'resources',
    'operations',
    'resourceNames',
  ].map(key => textsOf(at(rule, [key])) ?? [])
  const group = groupOf(id.apiVersion)
  const version = id.apiVersion.slice(group === '' ? 0 : group.length + 1)
  const scope = stringAt(rule, ['scope']) ?? '*'
  const isClusterWide = !isNamespaced || resource === 'namespaces'
  const has = (list: readonly string[] | undefined, one: string) => list!.includes('*') || list!.includes(one)
  return (
    (scope === '*' || (scope === 'Cluster') === isClusterWide) &&
    has(operations, operation) &&
    has(groups, group) &&
    (isEquivalent || has(versions, version)) &&
    resources!.some(one => ['*', '*/*', resource, `${resource}/*`].includes(one)) &&
    (names!.length === 0 || names!.includes(id.name))
  )
}
