import type { FleetNode } from '../../fleet/fleet.ts'
import { at, canonical } from '../../kube/node.ts'

/** What of a Kustomization decides what becomes of objects that nobody sees, and with whose rights; not its own name. */
const FIELDS = [
  'kubeConfig',
  'targetNamespace',
  'namePrefix',
  'nameSuffix',
  'patches',
  'patchesStrategicMerge',
  'patchesJson6902',
  'components',
  'images',
  'commonMetadata',
  'postBuild',
  'decryption',
  'suspend',
]

/**
 * Where and as whom what a node renders is applied, and what its spec makes of it. What is not evaluated there is known
 * only where this is the same: the same bytes on another cluster, or with another account, are something else.
 */
export function appliedAs(node: FleetNode): string {
  const spec = FIELDS.map(field => {
    const value = at(node.kustomization.root, ['spec', field])
    return value === undefined ? null : canonical(value)
  })
  return JSON.stringify([node.cluster, node.identity.user, spec])
}
