import { BailiwickError } from '../../errors.ts'
import { isAbsent, textNode, withField, withoutField, withValueAt } from '../../kube/edit-node.ts'
import { at, type Field, type MapNode, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { message, part } from '../../message/message.ts'
import { goTypeOf } from './go-type.ts'
import { goRoundTrip } from './round-trip.ts'

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

const OWNERS = ['metadata', 'ownerReferences']
const NAMESPACE = ['metadata', 'namespace']

/**
 * What Flux changes in objects before it applies them (fluxcd/pkg ssa/normalize): kinds that Go has a type for go
 * through that type, which drops fields that it does not have; no status, no creationTimestamp; `protocol: TCP` where a
 * port has none; `stringData` of a Secret moved into `data`. Roles are left alone, and so is what does not fit its type.
 * Throws `flux-invalid` for kinds that Flux cannot apply.
 */
export function normalise(objects: readonly KubeObject[]): KubeObject[] {
  return objects.map(object => {
    const root = normaliseRoot(object.root)
    if (root === object.root) return object
    const sops = object.root.fields.get('sops')?.value
    const owners = at(object.root, OWNERS)
    const namespace = at(object.root, NAMESPACE)
    return {
      ...object,
      root,
      ...(sops && !root.fields.has('sops') ? { sops } : {}),
      ...(owners && !at(root, OWNERS) ? { owners } : {}),
      ...(namespace && isAbsent(namespace) && !at(root, NAMESPACE) ? { nullNamespace: namespace } : {}),
    }
  })
}

function normaliseRoot(object: MapNode): MapNode {
  const apiVersion = stringAt(object, ['apiVersion']) ?? ''
  const kind = stringAt(object, ['kind']) ?? ''
  if (apiVersion === 'rbac.authorization.k8s.io/v1' && (kind === 'Role' || kind === 'ClusterRole')) return object
  let root = typed(object, apiVersion, kind) ?? object
  const metadata = at(root, ['metadata'])
  if (metadata?.type === 'map') root = withField(root, 'metadata', withoutField(metadata, 'creationTimestamp'))
  const isCrd = kind.toLowerCase() === 'customresourcedefinition' && apiVersion.startsWith('apiextensions.k8s.io/')
  return isCrd ? root : withoutField(root, 'status')
}

/** The object as its Go type writes it; undefined where it has none or does not fit. */
function typed(object: MapNode, apiVersion: string, kind: string): MapNode | undefined {
  const type = goTypeOf(apiVersion, kind)
  if (type === 'no-object') {
    throw new BailiwickError(
      'flux-invalid',
      message`${part('value', `${apiVersion} ${kind}`)}: Flux cannot apply this kind`,
      {
        origin: object.origin,
        fix: 'Remove the object.',
      },
    )
  }
  const root = type && goRoundTrip(object, type)
  if (root?.type !== 'map') return undefined
  const pods = POD_SPECS.get(`${apiVersion} ${kind}`)
  if (pods) return completeContainers(root, pods)
  if (apiVersion === 'v1' && kind === 'Service') return completePorts(root, ['spec', 'ports'])
  return apiVersion === 'v1' && kind === 'Secret' ? moveStringData(root) : root
}

function completeContainers(root: MapNode, path: readonly string[]): MapNode {
  const containers = at(root, [...path, 'containers'])
  if (containers?.type !== 'list') return root
  const items = containers.items.map(item => (item.type === 'map' ? completePorts(item, ['ports']) : item))
  if (items.every((item, index) => item === containers.items[index])) return root
  return withValueAt(root, [...path, 'containers'], { ...containers, items })
}

function completePorts(root: MapNode, path: readonly string[]): MapNode {
  const ports = at(root, path)
  if (ports?.type !== 'list') return root
  const items = ports.items.map(port => {
    if (port.type !== 'map' || stringAt(port, ['protocol'])) return port
    return withField(port, 'protocol', textNode('TCP', port.origin))
  })
  if (items.every((item, index) => item === ports.items[index])) return root
  return withValueAt(root, path, { ...ports, items })
}

function moveStringData(root: MapNode): MapNode {
  const plain = at(root, ['stringData'])
  if (plain?.type !== 'map') return root
  const data = at(root, ['data'])
  const fields = new Map<string, Field>(data?.type === 'map' ? data.fields : [])
  for (const [key, { key: origin, value }] of plain.fields) {
    const encoded = Buffer.from(stringAt(value, []) ?? '').toString('base64')
    const opaque = value.type === 'scalar' && value.opaque ? { opaque: value.opaque } : {}
    const moved = { ...textNode(encoded, value.origin), movedFrom: 'stringData', ...opaque }
    fields.set(key, { key: origin, value: moved })
  }
  const origin = isAbsent(data) ? plain.origin : data.origin
  return withField(withoutField(root, 'stringData'), 'data', { type: 'map', fields, origin })
}
