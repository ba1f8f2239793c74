import type { ApprovedNode } from '../../src/approval/approve.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { parseExact } from '../../src/cluster/exact-json.ts'
import { idOf } from '../../src/cluster/id-of.ts'
import { mapAt } from '../../src/cluster/json-at.ts'
import { BailiwickError } from '../../src/errors.ts'
import { nodeOf } from '../../src/fleet/model/synthetic.ts'
import type { Json } from '../../src/kube/node.ts'
import { display } from '../../src/kube/object.ts'
import type { Origin } from '../../src/origin.ts'
import type { Identities } from '../../src/sops/data-key.ts'
import { decryptObject } from '../../src/sops/decrypt-object.ts'

const NOWHERE: Origin = { repository: '', file: '', line: 0, column: 0 }
const MAX_KEYS = 32
const MAX_KEY_BYTES = 64 * 1024
const AGE_KEY = /^AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,200}$/

/** What is applied of a node. */
interface OpenedObjects {
  readonly objects: readonly Json[]
  /** Those of them that hold what was decrypted: no message may quote it. */
  readonly confidential: ReadonlySet<Json>
}

/**
 * The objects of a node as they are applied: exactly those that were evaluated, with the values of encrypted ones in clear.
 * The keys are read as the node's account, so that no tenant can use those of another. Nothing in clear leaves this process
 * but to the API server. Throws `cluster-invalid` or `cluster-forbidden`, without any value.
 */
export async function openObjects(client: ClusterClient, node: ApprovedNode): Promise<OpenedObjects> {
  const objects = node.objects.map(parseExact)
  const confidential = new Set<Json>(node.confidential?.map(place => objects[place]!))
  const { decryption } = node
  if (!decryption) return { objects, confidential }
  const identities = await readIdentities(client, node, decryption.secret)
  for (const { object: index, sops } of decryption.seals) {
    const object = mapAt(objects[index])
    try {
      confidential.delete(object)
      const opened = await decryptObject(object, nodeOf(sops, NOWHERE), identities)
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

/** Keys in the entries that kustomize-controller reads: `*.agekey` and `*.asc`. */
async function readIdentities(
  client: ClusterClient,
  { user, namespace }: ApprovedNode,
  name: string,
): Promise<Identities> {
  const where = `Secret ${namespace}/${name}, which spec.decryption names`
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets/${encodeURIComponent(name)}`
  const { status, body } = await client.request({ user }, 'GET', path)
  if (status !== 200) {
    const fix = `Create it in the namespace ${namespace}.`
    throw new BailiwickError('cluster-invalid', `${where}: does not exist`, { fix })
  }
  const age: string[] = []
  const pgp: string[] = []
  for (const [entry, value] of Object.entries(mapAt(body, 'data'))) {
    if (typeof value !== 'string' || !/\.(?:agekey|asc)$/.test(entry)) continue
    if (value.length > MAX_KEY_BYTES)
      throw unusable(where, `${entry.slice(0, 100)} is larger than ${MAX_KEY_BYTES} bytes`)
    const text = Buffer.from(value, 'base64').toString('utf8')
    if (entry.endsWith('.agekey'))
      age.push(
        ...text
          .split('\n')
          .map(line => line.trim())
          .filter(line => AGE_KEY.test(line)),
      )
    if (entry.endsWith('.asc')) pgp.push(text)
  }
  if (age.length + pgp.length > 0 && age.length <= MAX_KEYS && pgp.length <= MAX_KEYS) return { age, pgp }
  throw unusable(where, age.length + pgp.length > 0 ? `holds more than ${MAX_KEYS} keys` : 'holds no key')
}

function unusable(where: string, what: string): BailiwickError {
  return new BailiwickError(
    'cluster-invalid',
    `${where}: ${what}. Allowed: age keys under *.agekey, PGP keys under *.asc`,
    {
      fix: 'Keep only the keys of this Kustomization in it.',
    },
  )
}
