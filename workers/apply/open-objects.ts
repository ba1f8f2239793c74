import type { ApprovedNode } from '../../src/approval/approve.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { parseExact } from '../../src/cluster/exact-json.ts'
import { idOf } from '../../src/cluster/id-of.ts'
import { mapAt } from '../../src/cluster/json-at.ts'
import { BailiwickError } from '../../src/errors.ts'
import { nodeOf } from '../../src/fleet/model/synthetic.ts'
import type { Kms } from '../../src/kms/open-kms.ts'
import type { Json } from '../../src/kube/node.ts'
import { display } from '../../src/kube/object.ts'
import type { Origin } from '../../src/origin.ts'
import { decryptObject } from '../../src/sops/decrypt-object.ts'
import { identitiesOf } from './read-identities.ts'

const NOWHERE: Origin = { repository: '', file: '', line: 0, column: 0 }

/** What is applied of a node. */
interface OpenedObjects {
  readonly objects: readonly Json[]
  /** Those of them that hold what was decrypted: no message may quote it. */
  readonly confidential: ReadonlySet<Json>
}

/**
 * The objects of a node as they are applied: exactly those that were evaluated, with the values of encrypted ones in clear.
 * The keys are read as the node's account, so that no tenant can use those of another; those of services count for the
 * namespaces that the operator lists. Nothing in clear leaves this process
 * but to the API server. Throws `cluster-invalid` or `cluster-forbidden`, without any value.
 */
export async function openObjects(client: ClusterClient, node: ApprovedNode, kms?: Kms): Promise<OpenedObjects> {
  const objects = node.objects.map(parseExact)
  const confidential = new Set<Json>(node.confidential?.map(place => objects[place]!))
  const { decryption } = node
  if (!decryption) return { objects, confidential }
  const identities = await identitiesOf(client, node, decryption.secret, kms)
  for (const { object: index, sops, isSubstituted = false } of decryption.seals) {
    const object = mapAt(objects[index])
    try {
      confidential.delete(object)
      const opened = await decryptObject(object, nodeOf(sops, NOWHERE), identities, isSubstituted)
      objects[index] = opened
      confidential.add(opened)
    } catch (error) {
      if (!(error instanceof BailiwickError)) throw error
      const { fix } = error
      throw new BailiwickError('cluster-invalid', `${display(idOf(object))} ${error.message}`, { fix })
    }
  }
  return { objects, confidential }
}
