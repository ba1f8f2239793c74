import { isAbsent } from '../../kube/edit-node.ts'
import type { MapNode, Node } from '../../kube/node.ts'
import type { ReplicaEntry } from '../model/kustomization.ts'
import { invalid, listField, refuseOtherFields, structNode, textField } from './read-fields.ts'

/** The field `replicas`. Throws `kustomize-invalid` for what kustomize would not decode. */
export function readReplicas(root: MapNode): ReplicaEntry[] {
  return listField(root, 'replicas').map(readReplica)
}

/** One entry of `replicas`; a count that is not given is 0. */
export function readReplica(node: Node): ReplicaEntry {
  const entry = structNode(node, 'replicas[]')
  refuseOtherFields(entry, ['name', 'count'], 'replicas')
  const count = entry.fields.get('count')?.value
  const name = textField(entry, 'name')?.text ?? ''
  return isAbsent(count)
    ? { origin: entry.origin, name, count: 0 }
    : { origin: count.origin, name, count: integer(count) }
}

function integer(node: Node): number | bigint {
  const value = node.type === 'scalar' ? node.value : undefined
  const isInteger = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))
  if (!isInteger || BigInt.asIntN(64, BigInt(value)) !== BigInt(value)) {
    return invalid('count of replicas must be an integer', node.origin)
  }
  return value
}
