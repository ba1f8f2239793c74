import { at, type Node, stringAt } from '../../../kube/node.ts'
import { parseAddress } from '../../../kube/parse-address.ts'
import { textMapOf } from '../../../kube/read-text.ts'
import { forbiddenKey } from './capsule-list.ts'
import { textsAt } from './list-at.ts'
import type { CapsuleRefusal, Place } from './refused-class.ts'

const TYPES = [
  ['NodePort', 'nodePort'],
  ['ExternalName', 'externalName'],
  ['LoadBalancer', 'loadBalancer'],
] as const

/** Its type, its metadata and its addresses. */
export function* refusedService(root: Node, { spec, version }: Place): Iterable<CapsuleRefusal> {
  const type = stringAt(root, ['spec', 'type'])
  for (const [name, field] of TYPES) {
    const path = ['serviceOptions', 'allowedServices', field]
    const allowed = at(spec, path)
    if (type !== name || allowed?.type !== 'scalar' || allowed.value !== false) continue
    const words = `${name} service types are forbidden for the tenant: please, reach out to the system administrators`
    yield { path: ['spec', 'type'], what: 'it', field: path, words, value: name }
  }
  for (const [part, option] of [
    ['annotations', 'forbiddenAnnotations'],
    ['labels', 'forbiddenLabels'],
  ] as const) {
    const keys = textMapOf(at(root, ['metadata', part]))?.keys() ?? []
    const found = forbiddenKey(at(spec, ['serviceOptions', option]), keys, version)
    if (!found) continue
    const words = `${version < 13 ? 'service ' : ''}${part} validation failed: ${found.words}`
    yield {
      path: ['metadata', part, found.key],
      what: 'it',
      field: ['serviceOptions', option],
      words,
      value: found.key,
    }
  }
  const ips = at(spec, EXTERNAL_IPS)
  const allowed = textsAt(ips, ['allowed'])
  const place = ips ? textsAt(root, ['spec', 'externalIPs']).findIndex(ip => !isIn(ip, allowed)) : -1
  if (place < 0) return
  const words =
    allowed.length === 0
      ? 'The current Tenant does not allow the use of Service with external IPs'
      : `The selected external IPs for the current Service are violating the following enforced CIDRs: ${allowed.join(', ')}`
  const path = ['spec', 'externalIPs', place]
  yield { path, what: 'it', field: EXTERNAL_IPS, words, value: stringAt(root, path) ?? '' }
}

const EXTERNAL_IPS = ['serviceOptions', 'externalIPs']

/** Whether an address is in one of the networks; one without a length has 32 bits for Capsule, in version 6 too. */
function isIn(text: string, networks: readonly string[]): boolean {
  const address = parseAddress(text)
  return networks.some(network => {
    const [start = '', length = '32'] = network.split('/')
    const first = parseAddress(start)
    if (!address || first?.bits !== address.bits || Number(length) > first.bits) return false
    const rest = BigInt(first.bits - Number(length))
    return first.value >> rest === address.value >> rest
  })
}
