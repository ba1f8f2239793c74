import type { ClusterClient } from '../../src/cluster/client.ts'
import { mapAt } from '../../src/cluster/json-at.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { Kms } from '../../src/kms/open-kms.ts'
import type { Identities } from '../../src/sops/data-key.ts'

const MAX_KEYS = 32
const MAX_KEY_BYTES = 64 * 1024
const AGE_KEY = /^AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,200}$/

interface Reader {
  readonly user: string
  /** Of the Kustomization. */
  readonly namespace: string
}

/** All that may open what a Kustomization holds: the keys of its Secret, and those of services that are listed for it. */
export async function identitiesOf(
  client: ClusterClient,
  node: Reader,
  secret: string | undefined,
  kms: Kms | undefined,
): Promise<Identities> {
  const { namespace } = node
  const isListed = kms?.isListed(namespace) === true
  const identities = secret === undefined ? { age: [] } : await readIdentities(client, node, secret, isListed)
  return isListed ? { ...identities, open: key => kms.open(namespace, key) } : identities
}

/**
 * The keys of a Secret that `spec.decryption` names, in the entries that kustomize-controller reads: `*.agekey` and `*.asc`.
 * Read as the account, so that no tenant can use those of another. `mayHoldNone`: keys of services may open the same. Throws
 * `cluster-invalid` or `cluster-forbidden`.
 */
async function readIdentities(
  client: ClusterClient,
  { user, namespace }: Reader,
  name: string,
  mayHoldNone: boolean,
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
  const isEnough = mayHoldNone || age.length + pgp.length > 0
  if (isEnough && age.length <= MAX_KEYS && pgp.length <= MAX_KEYS) return { age, pgp }
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
