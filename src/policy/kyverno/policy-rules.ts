import { at } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { type ComputedRule, computedRules } from './computed-rules.ts'
import { type ContextValue, isFields, isList, valueAt } from './jmespath/values.ts'
import { isKindSelected } from './kind-selector.ts'
import type { RuleRequest } from './rule-request.ts'

export const CLUSTER_POLICY = 'kyverno.io/ClusterPolicy'
export const POLICY = 'kyverno.io/Policy'

/** A rule and the policy that contains it. */
export interface WrittenRule extends ComputedRule {
  readonly policy: KubeObject
  /** '' for a ClusterPolicy. */
  readonly policyNamespace: string
}

const byPolicy = new WeakMap<KubeObject, Map<string, readonly WrittenRule[]>>()

type Asked = Pick<RuleRequest, 'group' | 'version' | 'kind' | 'subresource' | 'namespace'>

/** The validating rules of platform policies that may apply to objects of a kind in a namespace. */
export function policyRules(world: AdmissionWorld, asked: Asked): readonly WrittenRule[] {
  const { namespace } = asked
  const own = namespace === '' ? [] : world.policiesIn(POLICY, namespace)
  return [...world.policies(CLUSTER_POLICY), ...own].flatMap(policy => rulesFor(policy, asked))
}

function rulesFor(policy: KubeObject, asked: Asked): readonly WrittenRule[] {
  const known = byPolicy.get(policy) ?? new Map<string, readonly WrittenRule[]>()
  byPolicy.set(policy, known)
  const key = `${asked.group}/${asked.version}/${asked.kind}/${asked.subresource ?? ''}`
  const kept = known.get(key)
  if (kept) return kept
  const policyNamespace = at(policy.root, ['kind']) && idOf(policy).kind === 'Policy' ? idOf(policy).namespace : ''
  const made = computedRules(policy, asked.kind)
    .filter(({ rule }) => rule.has('validate') && mayMatch(rule.get('match'), asked))
    .map(one => ({ ...one, policy, policyNamespace }))
  known.set(key, made)
  return made
}

/** Whether the kinds alone leave at least one filter that may match. */
function mayMatch(match: ContextValue | undefined, asked: Asked): boolean {
  const [any, all] = ['any', 'all'].map(key => {
    const list = valueAt(match, [key])
    return isList(list) ? list : []
  })
  if (any!.length > 0) return any!.some(filter => isOfKind(filter, asked))
  if (all!.length > 0) return all!.every(filter => isOfKind(filter, asked))
  return isFields(match) && isOfKind(match, asked)
}

function isOfKind(filter: ContextValue, asked: Asked): boolean {
  const kinds = valueAt(filter, ['resources', 'kinds'])
  if (!isList(kinds) || kinds.length === 0) return true
  return kinds.some(kind => typeof kind === 'string' && isKindSelected(kind, asked))
}
