import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { at } from '../../../kube/node.ts'

/** Whether the Kustomization of a node decrypts what it applies. */
export const isDecrypted = (node: FleetNode): boolean =>
  at(node.kustomization.root, ['spec', 'decryption'])?.type === 'map'
