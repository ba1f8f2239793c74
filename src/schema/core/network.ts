import type { MapNode, Path } from '../../kube/node.ts'
import {
  badValue,
  forbiddenField,
  isHidden,
  isSet,
  isUnknown,
  itemsIn,
  mapIn,
  mapsIn,
  missingField,
  numberIn,
  type Problem,
  type TypeCheck,
  textIn,
} from './problem.ts'
import { isCidr } from './texts.ts'

/** Service fields that only some types allow, or that all types but one allow. */
const ONLY_BALANCED = ['allocateLoadBalancerNodePorts', 'loadBalancerClass', 'loadBalancerSourceRanges']
const NOT_EXTERNAL_NAME = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']

/** validateService. */
export const checkService: TypeCheck = (node, path, add) => {
  if (['type', 'clusterIP', 'ports', 'sessionAffinity'].some(name => isHidden(node, name))) return
  const type = textIn(node, 'type') || 'ClusterIP'
  const isHeadless = textIn(node, 'clusterIP') === 'None'
  const ports = itemsIn(node, 'ports')
  if (ports.length === 0 && !isHeadless && type !== 'ExternalName')
    add(missingField([...path, 'ports'], 'at least one port'))
  if (isHeadless && (type === 'LoadBalancer' || type === 'NodePort'))
    add(badValue([...path, 'clusterIP'], `no None, because type is ${type}`, 'None'))
  if (type === 'ExternalName') {
    if (!isSet(node, 'externalName'))
      add(missingField([...path, 'externalName'], 'a DNS name, because type is ExternalName'))
    for (const name of NOT_EXTERNAL_NAME)
      if (isSet(node, name)) add(forbiddenField([...path, name], 'this field where type is not ExternalName'))
  }
  if (type !== 'LoadBalancer')
    for (const name of ONLY_BALANCED)
      if (isSet(node, name) && !(node.fields.get(name)?.value.type === 'list' && itemsIn(node, name).length === 0))
        add(forbiddenField([...path, name], 'this field where type is LoadBalancer'))
  if ((textIn(node, 'sessionAffinity') || 'None') === 'None' && isSet(node, 'sessionAffinityConfig'))
    add(forbiddenField([...path, 'sessionAffinityConfig'], 'this field where sessionAffinity is ClientIP'))
  if (
    isSet(node, 'externalTrafficPolicy') &&
    type !== 'LoadBalancer' &&
    type !== 'NodePort' &&
    itemsIn(node, 'externalIPs').length === 0
  )
    add(forbiddenField([...path, 'externalTrafficPolicy'], 'this field where type is LoadBalancer or NodePort'))
  checkPorts(node, path, type, add)
  checkBlocks(node, 'loadBalancerSourceRanges', path, add)
}

function checkPorts(node: MapNode, path: Path, type: string, add: (problem: Problem) => void): void {
  const isOne = itemsIn(node, 'ports').length <= 1
  const names = new Set<string>()
  for (const [index, port] of mapsIn(node, 'ports')) {
    const here = [...path, 'ports', index]
    const name = textIn(port, 'name')
    if (!isOne && !isSet(port, 'name') && !isHidden(port, 'name'))
      add(missingField([...here, 'name'], 'a name, because there are several ports'))
    if (name && names.has(name))
      add({ kind: 'duplicate', path: [...here, 'name'], allowed: 'each name once', found: 'a duplicate' })
    if (name) names.add(name)
    const nodePort = numberIn(port, 'nodePort')
    if (type === 'ClusterIP' && nodePort !== undefined && nodePort !== 0)
      add(forbiddenField([...here, 'nodePort'], 'this field where type is NodePort or LoadBalancer'))
  }
}

function checkBlocks(node: MapNode, list: string, path: Path, add: (problem: Problem) => void): void {
  for (const [index, item] of itemsIn(node, list).entries())
    if (item.type === 'scalar' && typeof item.value === 'string' && !isUnknown(item) && !isCidr(item.value.trim()))
      add(badValue([...path, list, index], 'a block of addresses such as 10.0.0.0/8', 'text of another form'))
}

/** ValidateIPBlock. */
export const checkBlock: TypeCheck = (node, path, add) => {
  const cidr = textIn(node, 'cidr')
  if (cidr !== undefined && cidr !== '' && !isCidr(cidr))
    add(badValue([...path, 'cidr'], 'a block of addresses such as 10.0.0.0/8', 'text of another form'))
  if (cidr === '') add(missingField([...path, 'cidr']))
  checkBlocks(node, 'except', path, add)
}

/** ValidateNetworkPolicyPeer. */
export const checkPeer: TypeCheck = (node, path, add) => {
  const [block, pods, namespaces] = ['ipBlock', 'podSelector', 'namespaceSelector'].map(name => mapIn(node, name))
  if (block && (pods || namespaces))
    add(forbiddenField([...path, pods ? 'podSelector' : 'namespaceSelector'], 'ipBlock alone'))
  if (!(block || pods || namespaces))
    add(missingField([...path, 'podSelector'], 'one of ipBlock, namespaceSelector and podSelector'))
}

/** ValidateNetworkPolicyPort. */
export const checkPolicyPort: TypeCheck = (node, path, add) => {
  const end = numberIn(node, 'endPort')
  if (end === undefined || isHidden(node, 'port')) return
  const port = numberIn(node, 'port')
  if (port === undefined) add(badValue([...path, 'endPort'], 'this field beside a number in port', 'a number'))
  else if (end < port) add(badValue([...path, 'endPort'], 'at least the number of port', 'a smaller number'))
}

/** ValidateIngressSpec. */
export const checkIngress: TypeCheck = (node, path, add) => {
  if (itemsIn(node, 'rules').length > 0 || mapIn(node, 'defaultBackend') || isHidden(node, 'rules')) return
  add(missingField([...path, 'rules'], 'rules or defaultBackend'))
}

const NOT_IN_PATH = ['//', '/./', '/../', '%2f', '%2F']
const NOT_AT_END = ['/..', '/.']

/** validateHTTPIngressPath. */
export const checkIngressPath: TypeCheck = (node, path, add) => {
  const [type, text] = [textIn(node, 'pathType'), textIn(node, 'path')]
  if (type === undefined || isHidden(node, 'path')) return
  const here = [...path, 'path']
  const isAbsolute = text?.startsWith('/') === true
  if (type === 'ImplementationSpecific') {
    if (text && !isAbsolute) add(badValue(here, 'a path that begins with /', 'text of another form'))
  } else if (type === 'Exact' || type === 'Prefix') {
    if (!isAbsolute)
      add(
        text
          ? badValue(here, 'a path that begins with /', 'text of another form')
          : missingField(here, 'a path that begins with /'),
      )
    else if (NOT_IN_PATH.some(part => text.includes(part)) || NOT_AT_END.some(part => text.endsWith(part)))
      add(badValue(here, 'a path without //, /., /.. and %2f', 'text of another form'))
  }
}

/** ValidateNetworkPolicySpec. */
export const checkPolicyTypes: TypeCheck = (node, path, add) => {
  if (itemsIn(node, 'policyTypes').length > 2)
    add(badValue([...path, 'policyTypes'], 'Ingress and Egress, each once', 'a longer list'))
}
