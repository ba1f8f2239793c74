import { codeWord, message, part, untyped } from '../../base/message.ts'
import { quoted } from '../../fleet/facts/shown.ts'
import { at, isEmpty, type Node, type Path, stringAt } from '../../kube/node.ts'
import { isUnset, textOf } from '../model/object-values.ts'
import type { Rule, Subject, Violation } from '../model/rule.ts'

/** A tenant's Service is reached only from inside the cluster. */
export const networkExposure: Rule = {
  id: 'network-exposure',
  severity: 'high',
  title: 'Service exposed outside the cluster',
  why: 'A Service with `externalIPs` takes the traffic of any address, including other Services and the API server. A node port or a load balancer exposes the workload to every client of the nodes. The ingress and its policies do not apply.',
  source: 'CVE-2020-8554',
  docs: 'Use type `ClusterIP` behind an Ingress or a route. A Service of type NodePort or LoadBalancer is a warning, `externalIPs` a violation.',
  kinds: ['/Service'],
  *checkTenantObject(subject) {
    yield* externalAddresses(subject)
    const { root } = subject.object
    const type = textOf(at(root, ['spec', 'type']))
    if (type === 'NodePort' || type === 'LoadBalancer') {
      yield { ...violation(subject, ['spec', 'type'], type, 'ClusterIP'), level: 'warning' }
    }
    const address = textOf(at(root, ['spec', 'loadBalancerIP'])) ?? ''
    if (address !== '') {
      yield { ...violation(subject, ['spec', 'loadBalancerIP'], address, 'no requested address'), level: 'warning' }
    }
  },
}

function* externalAddresses(subject: Subject): Iterable<Violation> {
  const path = ['spec', 'externalIPs']
  const list = subject.at(path)
  if (!list || isUnset(list)) return
  if (list.type !== 'list') {
    yield violation(subject, path, textOf(list) ?? 'set', 'nothing')
    return
  }
  for (const [index, item] of list.items.entries()) {
    yield violation(subject, [...path, index], textOf(item) ?? 'set', 'nothing')
  }
}

function violation(subject: Subject, path: Path, value: string, allowed: string): Violation {
  const field = path.filter(step => typeof step === 'string').join('.')
  return subject.violation(path, value, {
    message: message`${subject.who} is exposed outside the cluster: ${part('field', field)} is ${quoted('value', value)}. Allowed: ${untyped(allowed)}. The API server accepts it.`,
    fix: message`Remove ${part('field', field)}, and route traffic to the Service with an Ingress or a route.`,
  })
}

const CILIUM = 'cilium.io/CiliumNetworkPolicy'
const KINDS = [
  'networking.k8s.io/NetworkPolicy',
  CILIUM,
  'crd.projectcalico.org/NetworkPolicy',
  'projectcalico.org/NetworkPolicy',
]

/** Policies add up: one that allows everything cancels all others. */
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
    const { kind } = subject
    const list = kind === CILIUM ? subject.at(['specs']) : undefined
    const items = list?.type === 'list' ? list.items : []
    for (const spec of [['spec'], ...items.map((_item, index): Path => ['specs', index])]) {
      if (!selectsAll(subject.at(spec), kind)) continue
      for (const direction of ['ingress', 'egress'] as const) {
        const rule = openRule(subject.at(spec), direction, kind)
        if (rule !== undefined) yield openPolicyViolation(subject, [...spec, direction, rule], direction)
      }
    }
  },
}

function openPolicyViolation(subject: Subject, path: Path, direction: 'ingress' | 'egress'): Violation {
  const where = direction === 'ingress' ? 'from any address' : 'to any address'
  return subject.violation(path, direction, {
    message: message`${subject.who} allows ${direction} ${where} for every pod of the namespace, which cancels the platform's policies. Allowed: a policy for selected pods, peers or ports.`,
    fix: message`Set ${codeWord('podSelector')} to the pods that need the traffic, or set ${direction === 'ingress' ? 'from' : 'to'} and ports.`,
  })
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

const EVERYWHERE = new Set(['0.0.0.0/0', '::/0', '0.0.0.0/1', '128.0.0.0/1', '::/1', '8000::/1'])

/** Whether a rule of a NetworkPolicy lets traffic of any port through from or to anywhere. */
function isWorld(rule: Node, direction: 'ingress' | 'egress', kind: string): boolean {
  if (kind.includes('calico')) return isWorldOfCalico(rule, direction)
  if (kind.startsWith('cilium.io/')) return isWorldOfCilium(rule, direction)
  if (!opensAllPorts(at(rule, ['ports']))) return false
  const peers = at(rule, [direction === 'ingress' ? 'from' : 'to'])
  if (isEmpty(peers)) return true
  return peers?.type === 'list' && peers.items.some(isEverybody)
}

function isEverybody(peer: Node): boolean {
  if (isEmpty(peer)) return false
  const cidr = stringAt(peer, ['ipBlock', 'cidr'])
  if (cidr !== undefined) return EVERYWHERE.has(cidr.trim()) && isEmpty(at(peer, ['ipBlock', 'except']))
  const namespaces = at(peer, ['namespaceSelector'])
  if (!namespaces || (namespaces.type === 'scalar' && namespaces.value === null)) return false
  return isUnlimited(namespaces) && isUnlimited(at(peer, ['podSelector']))
}

function isUnlimited(selector: Node | undefined): boolean {
  return isEmpty(selector) || (isEmpty(at(selector, ['matchLabels'])) && isEmpty(at(selector, ['matchExpressions'])))
}

function opensAllPorts(ports: Node | undefined): boolean {
  if (isEmpty(ports)) return true
  if (ports?.type !== 'list') return false
  return ports.items.some(port => {
    const first = at(port, ['port'])
    if (isEmpty(first)) return true
    const last = at(port, ['endPort'])
    const of = (node: Node | undefined) => (node?.type === 'scalar' ? Number(node.value) : Number.NaN)
    return of(first) <= 1 && of(last) >= 65_535
  })
}

function isWorldOfCilium(rule: Node, direction: 'ingress' | 'egress'): boolean {
  const side = direction === 'ingress' ? 'from' : 'to'
  if (!isEmpty(at(rule, ['toPorts']))) return false
  const has = (key: string, wanted: (text: string) => boolean) => {
    const list = at(rule, [`${side}${key}`])
    return list?.type === 'list' && list.items.some(item => item.type === 'scalar' && wanted(String(item.value)))
  }
  const sets = at(rule, [`${side}CIDRSet`])
  const isSet = (item: Node) => EVERYWHERE.has(stringAt(item, ['cidr']) ?? '') && isEmpty(at(item, ['except']))
  return (
    has('Entities', text => text === 'all' || text === 'world') ||
    has('CIDR', text => EVERYWHERE.has(text)) ||
    (sets?.type === 'list' && sets.items.some(isSet))
  )
}

function isWorldOfCalico(rule: Node, direction: 'ingress' | 'egress'): boolean {
  if (stringAt(rule, ['action']) !== 'Allow') return false
  const [peer, other] = direction === 'ingress' ? ['source', 'destination'] : ['destination', 'source']
  const nets = at(rule, [peer, 'nets'])
  const isAnywhere =
    isEmpty(at(rule, [peer])) ||
    (nets?.type === 'list' && nets.items.some(net => net.type === 'scalar' && EVERYWHERE.has(String(net.value))))
  return isAnywhere && isEmpty(at(rule, ['destination', 'ports'])) && isEmpty(at(rule, [other, 'selector']))
}
