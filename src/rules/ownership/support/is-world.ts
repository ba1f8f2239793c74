import { isEmpty } from '../../../kube/edit-node.ts'
import { at, type Node, stringAt } from '../../../kube/node.ts'

const EVERYWHERE = new Set(['0.0.0.0/0', '::/0', '0.0.0.0/1', '128.0.0.0/1', '::/1', '8000::/1'])

/** Whether a rule of a NetworkPolicy lets traffic of any port through from or to anywhere. */
export function isWorld(rule: Node, direction: 'ingress' | 'egress', kind: string): boolean {
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
