import type { FleetNode } from '../../fleet/fleet.ts'
import { stringAt } from '../../kube/node.ts'
import type { FleetIndex } from '../index/fleet-index.ts'
import type { Naming } from '../index/naming.ts'

/** Objects of which a controller makes a Secret, and where they name it, if that is not their own name. */
const MAKERS: readonly (readonly [string, readonly string[]])[] = [
  ['/Secret', []],
  ['bitnami.com/SealedSecret', []],
  ['external-secrets.io/ExternalSecret', ['spec', 'target', 'name']],
]

const MADE = MAKERS.map(([kind, path]): readonly [string, Naming] => {
  const of: Naming['of'] = ({ object }) => {
    const target = path.length > 0 ? stringAt(object.root, path) : undefined
    return [target || (stringAt(object.root, ['metadata', 'name']) ?? '')]
  }
  return [kind, { id: 'becomes secret', of }]
})

/** Whether a tenant itself renders a Secret, or what becomes it. */
export function isOwnSecret(index: FleetIndex, node: FleetNode, namespace: string, name: string): boolean {
  return MADE.some(([kind, made]) =>
    index.found(node.cluster, kind, namespace, made, name).some(({ node: by }) => by.tenant === node.tenant),
  )
}
