import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { at, stringAt } from '../../../kube/node.ts'
import { isSealed, isSopsValue } from '../../secrets/support/sops.ts'

/**
 * What a tenant's own Secret holds under a key. A Secret that the platform renders, or nobody, is the platform's affair.
 * Whoever shows the text shows a secret: take out of it what is none.
 */
export function secretValue(
  index: FleetIndex,
  node: FleetNode,
  namespace: string,
  name: string,
  key: string,
): { readonly text: string } | 'sealed' | undefined {
  for (const { object, node: by } of index.versionsOf(node.cluster, '/Secret', namespace, name)) {
    if (by.tenant !== node.tenant) continue
    const [plain, data] = [at(object.root, ['stringData', key]), at(object.root, ['data', key])]
    const found = plain ?? data
    if (!found) continue
    const text = stringAt(found, [])
    if (text === undefined) continue
    if (isSealed(object) || isSopsValue(text) || (found.type === 'scalar' && found.opaque)) return 'sealed'
    return { text: plain ? text : Buffer.from(text, 'base64').toString('utf8').trim() }
  }
  return undefined
}
