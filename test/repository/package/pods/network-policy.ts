import { BlockList, isIP } from 'node:net'
import type { Manifest, Pod } from './manifest.ts'

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>
}

interface Peer {
  readonly podSelector?: Selector
  readonly namespaceSelector?: Selector
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] }
}

interface Rule {
  readonly from?: readonly Peer[]
  readonly to?: readonly Peer[]
  readonly ports?: readonly { readonly protocol?: string; readonly port?: string | number }[]
}

interface PolicySpec {
  readonly podSelector: Selector
  readonly policyTypes: readonly string[]
  readonly ingress?: readonly Rule[]
  readonly egress?: readonly Rule[]
}

/** One end of a connection: a pod, with the labels of its namespace, or an address outside of the cluster. */
export type End =
  | { readonly pod: Pod; readonly namespaceLabels: Readonly<Record<string, string>> }
  | { readonly ip: string }

export interface Connection {
  readonly from: End
  readonly to: End
  readonly port: number
  readonly protocol?: 'TCP' | 'UDP'
}

/**
 * Whether NetworkPolicies allow a connection, by the documentation of the API
 * (https://kubernetes.io/docs/concepts/services-networking/network-policies/): a pod that no policy selects for a direction is
 * open in it; else one rule of one policy must match. Port names are those of the pod that is reached.
 */
export function allows(policies: readonly Manifest[], connection: Connection): boolean {
  return allowsOneWay(policies, connection, 'Egress') && allowsOneWay(policies, connection, 'Ingress')
}

function allowsOneWay(policies: readonly Manifest[], connection: Connection, type: 'Ingress' | 'Egress'): boolean {
  const [own, other] = type === 'Egress' ? [connection.from, connection.to] : [connection.to, connection.from]
  if (!('pod' in own)) return true
  const selecting = policies.filter(
    ({ metadata, spec }) =>
      metadata.namespace === own.pod.metadata.namespace &&
      (spec as PolicySpec).policyTypes.includes(type) &&
      selects((spec as PolicySpec).podSelector, own.pod.metadata.labels ?? {}),
  )
  if (selecting.length === 0) return true
  return selecting.some(policy => {
    const { egress = [], ingress = [] } = policy.spec as PolicySpec
    const rules = type === 'Egress' ? egress : ingress
    return rules.some(({ to, from, ports }) => {
      const peers = type === 'Egress' ? to : from
      const isPeer = !peers?.length || peers.some(peer => matches(peer, other, policy.metadata.namespace!))
      return isPeer && (!ports?.length || ports.some(port => isPort(port, connection)))
    })
  })
}

function matches({ podSelector, namespaceSelector, ipBlock }: Peer, end: End, namespace: string): boolean {
  if (ipBlock)
    return 'ip' in end && isWithin(end.ip, ipBlock.cidr) && !ipBlock.except?.some(one => isWithin(end.ip, one))
  if (!('pod' in end)) return false
  const isNamespace = namespaceSelector
    ? selects(namespaceSelector, end.namespaceLabels)
    : end.pod.metadata.namespace === namespace
  return isNamespace && (!podSelector || selects(podSelector, end.pod.metadata.labels ?? {}))
}

function selects({ matchLabels = {}, ...rest }: Selector, labels: Readonly<Record<string, string>>): boolean {
  if (Object.keys(rest).length > 0) throw new Error(`a selector that this test does not know: ${JSON.stringify(rest)}`)
  return Object.entries(matchLabels).every(([name, value]) => labels[name] === value)
}

function isPort(
  { protocol = 'TCP', port }: NonNullable<Rule['ports']>[number],
  { to, port: wanted, protocol: of = 'TCP' }: Connection,
): boolean {
  if (protocol !== of) return false
  if (port === undefined || port === wanted) return true
  if (typeof port === 'number' || !('pod' in to)) return false
  const ports = to.pod.spec.containers.flatMap(({ ports = [] }) => ports)
  return ports.some(({ name, containerPort }) => name === port && containerPort === wanted)
}

function isWithin(ip: string, cidr: string): boolean {
  const [network = '', length = ''] = cidr.split('/')
  const family = isIP(ip) === 6 ? 'ipv6' : 'ipv4'
  if (isIP(network) !== isIP(ip)) return false
  const list = new BlockList()
  list.addSubnet(network, Number(length), family)
  return list.check(ip, family)
}
