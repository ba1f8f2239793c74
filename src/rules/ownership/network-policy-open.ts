import { objectPart } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { isEmpty } from '../../kube/edit-node.ts'
import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import { codeWord, message } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { isWorld } from './support/is-world.ts'

const CILIUM = 'cilium.io/CiliumNetworkPolicy'
const KINDS = [
  'networking.k8s.io/NetworkPolicy',
  CILIUM,
  'crd.projectcalico.org/NetworkPolicy',
  'projectcalico.org/NetworkPolicy',
]

/** Policies add up: one that lets everything through takes the effect from all the others. */
export const networkPolicyOpen: Rule = {
  id: 'network-policy-open',
  severity: 'medium',
  level: 'warning',
  title: 'NetworkPolicy that allows all traffic',
  why: "Kubernetes adds up the rules of all NetworkPolicies. A tenant's policy that allows all traffic cancels the platform's default deny.",
  source: 'Kubernetes Multi-Tenancy Benchmark MTB-PL1-BC-OPS-4',
  docs: 'Select the pods that need the traffic, or name peers or ports.',
  kinds: KINDS,
  *checkTenantObject(subject) {
    const { object, kind } = subject
    const specs: Path[] = [['spec']]
    const list = at(object.root, ['specs'])
    if (kind === CILIUM && list?.type === 'list') specs.push(...list.items.map((_item, index) => ['specs', index]))
    for (const spec of specs) {
      if (!selectsAll(at(object.root, spec), kind)) continue
      for (const direction of ['ingress', 'egress'] as const) {
        const rule = openRule(at(object.root, spec), direction, kind)
        if (rule !== undefined) yield violation(subject, [...spec, direction, rule], direction)
      }
    }
  },
}

function violation({ object, id, node }: Subject, path: Path, direction: 'ingress' | 'egress'): Violation {
  const where = direction === 'ingress' ? 'from any address' : 'to any address'
  return {
    node,
    object,
    path,
    value: direction,
    message: message`${objectPart(id.kind, id.namespace, id.name)} allows ${direction} ${where} for every pod of the namespace, which cancels the platform's policies. Allowed: a policy for selected pods, peers or ports.`,
    fix: message`Set ${codeWord('podSelector')} to the pods that need the traffic, or set ${direction === 'ingress' ? 'from' : 'to'} and ports.`,
  }
}

/** A selector that leaves no pod out; those by `NotIn` and `DoesNotExist` leave out next to none. */
function selectsAll(spec: Node | undefined, kind: string): boolean {
  if (kind.includes('calico')) {
    const selector = stringAt(spec, ['selector'])?.trim() ?? ''
    return selector === '' || selector === 'all()'
  }
  const selector = at(spec, [kind === CILIUM ? 'endpointSelector' : 'podSelector'])
  if (isEmpty(selector)) return true
  const labels = at(selector, ['matchLabels'])
  const expressions = at(selector, ['matchExpressions'])
  if (!isEmpty(labels) || expressions?.type !== 'list') return isEmpty(labels) && isEmpty(expressions)
  return expressions.items.every(item => ['NotIn', 'DoesNotExist'].includes(stringAt(item, ['operator']) ?? ''))
}

function openRule(spec: Node | undefined, direction: 'ingress' | 'egress', kind: string): number | undefined {
  const rules = at(spec, [direction])
  if (rules?.type !== 'list' || !isInForce(spec, direction)) return undefined
  const index = rules.items.findIndex(rule => isWorld(rule, direction, kind))
  return index < 0 ? undefined : index
}

/** `policyTypes` says which parts count; without it, those that are there. */
function isInForce(spec: Node | undefined, direction: 'ingress' | 'egress'): boolean {
  const types = at(spec, ['policyTypes']) ?? at(spec, ['types'])
  if (types?.type !== 'list' || types.items.length === 0) return true
  return types.items.some(item => item.type === 'scalar' && String(item.value).toLowerCase() === direction)
}
