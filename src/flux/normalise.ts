import { textNode, withField, withoutField, withValueAt } from '../kube/edit-node.ts'
import { at, type Field, type MapNode, type Node, stringAt } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'
import { withGoZeroValues } from './go-zero-values.ts'

/** Where pods stand in the kinds whose ports Flux completes. */
const POD_SPECS: ReadonlyMap<string, readonly string[]> = new Map([
  ['v1 Pod', ['spec']],
  ['apps/v1 Deployment', ['spec', 'template', 'spec']],
  ['apps/v1 StatefulSet', ['spec', 'template', 'spec']],
  ['apps/v1 DaemonSet', ['spec', 'template', 'spec']],
  ['apps/v1 ReplicaSet', ['spec', 'template', 'spec']],
  ['batch/v1 Job', ['spec', 'template', 'spec']],
  ['batch/v1 CronJob', ['spec', 'jobTemplate', 'spec', 'template', 'spec']],
])

/**
 * What Flux changes in objects before it applies them (fluxcd/pkg ssa/normalize): no status, no creationTimestamp,
 * `protocol: TCP` where a port has none, `stringData` of a Secret moved into `data`, the zero values that Go adds. Roles
 * are left alone. Unknown fields, which Go drops, stay: what a rule should see must not vanish.
 */
export function normalise(objects: readonly KubeObject[]): KubeObject[] {
  return objects.map(object => ({ ...object, root: normaliseRoot(object.root) }))
}

function normaliseRoot(object: MapNode): MapNode {
  const apiVersion = stringAt(object, ['apiVersion']) ?? ''
  const kind = stringAt(object, ['kind']) ?? ''
  if (apiVersion === 'rbac.authorization.k8s.io/v1' && (kind === 'Role' || kind === 'ClusterRole')) return object
  let root = object
  const metadata = at(root, ['metadata'])
  if (metadata?.type === 'map') root = withField(root, 'metadata', withoutField(metadata, 'creationTimestamp'))
  const isCrd = kind.toLowerCase() === 'customresourcedefinition' && apiVersion.startsWith('apiextensions.k8s.io/')
  if (!isCrd) root = withoutField(root, 'status')
  const pods = POD_SPECS.get(`${apiVersion} ${kind}`)
  if (pods) root = completeContainers(root, pods)
  if (apiVersion === 'v1' && kind === 'Service') root = completePorts(root, ['spec', 'ports'])
  if (apiVersion === 'v1' && kind === 'Secret') root = moveStringData(root)
  return withGoZeroValues(root)
}

function completeContainers(root: MapNode, path: readonly string[]): MapNode {
  const containers = at(root, [...path, 'containers'])
  if (containers?.type !== 'list') return root
  const items = containers.items.map(item => (item.type === 'map' ? completePorts(item, ['ports']) : item))
  return withValueAt(root, [...path, 'containers'], { ...containers, items })
}

function completePorts(root: MapNode, path: readonly string[]): MapNode {
  const ports = at(root, path)
  if (ports?.type !== 'list') return root
  const items = ports.items.map(port => {
    if (port.type !== 'map' || stringAt(port, ['protocol'])) return port
    return withField(port, 'protocol', textNode('TCP', port.origin))
  })
  return withValueAt(root, path, { ...ports, items })
}

/** A Secret that is no valid one stays as it is, as in Flux. */
function moveStringData(root: MapNode): MapNode {
  const plain = at(root, ['stringData'])
  const data = at(root, ['data'])
  if (plain?.type !== 'map' || plain.fields.size === 0 || (data && data.type !== 'map')) return root
  if (![...plain.fields.values()].every(field => isText(field.value))) return root
  if (data && ![...data.fields.values()].every(field => isText(field.value) && isBase64(field.value))) return root
  const fields = new Map<string, Field>(data?.fields)
  for (const [key, { key: origin, value }] of plain.fields) {
    const encoded = Buffer.from(stringAt(value, []) ?? '').toString('base64')
    fields.set(key, { key: origin, value: { type: 'scalar', value: encoded, origin: value.origin } })
  }
  const moved = withoutField(root, 'stringData')
  return withField(moved, 'data', { type: 'map', fields, origin: data?.origin ?? plain.origin })
}

const isText = (node: Node): boolean => node.type === 'scalar' && typeof node.value === 'string'

function isBase64(node: Node): boolean {
  const text = (stringAt(node, []) ?? '').replace(/[\r\n]/g, '')
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}
