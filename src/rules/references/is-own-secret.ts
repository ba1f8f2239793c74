import type { FleetNode } from '../../fleet/fleet.ts'
import { stringAt } from '../../kube/node.ts'
import type { FleetIndex } from '../index/fleet-index.ts'

/** Objects of which a controller makes a Secret, and where they name it, if that is not their own name. */
const MAKERS: readonly (readonly [string, readonly string[]])[] = [
  ['/Secret', []],
  ['bitnami.com/SealedSecret', []],
  ['external-secrets.io/ExternalSecret', ['spec', 'target', 'name']],
]

/** Whether a tenant itself renders a Secret, or what becomes it. */
export function isOwnSecret(index: FleetIndex, node: FleetNode, namespace: string, name: string): boolean {
  return MAKERS.some(([kind, path]) =>
    index.rendered(node.cluster, kind, namespace).some(({ object, node: by }) => {
      if (by.tenant !== node.tenant) return false
      const target = path.length > 0 ? stringAt(object.root, path) : undefined
      return (target || stringAt(object.root, ['metadata', 'name'])) === name
    }),
  )
}
