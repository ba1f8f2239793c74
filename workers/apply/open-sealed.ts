import type { ClusterClient } from '../../src/cluster/client.ts'
import { parseExact } from '../../src/cluster/exact-json.ts'
import { idOf } from '../../src/cluster/id-of.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { NodeValues } from '../../src/fleet/model/cluster-values.ts'
import { nodeOf } from '../../src/fleet/model/synthetic.ts'
import type { Kms } from '../../src/kms/open-kms.ts'
import { at, canonical, type ScalarValue } from '../../src/kube/node.ts'
import { display } from '../../src/kube/object.ts'
import type { EvaluatedNode } from '../../src/rules/model/finding.ts'
import type { Identities } from '../../src/sops/data-key.ts'
import { decryptFile } from '../../src/sops/decrypt-file.ts'
import { decryptObject } from '../../src/sops/decrypt-object.ts'
import type { OpenedMemory } from './opened-memory.ts'
import { identitiesOf } from './read-identities.ts'

const MAX_FILES = 64
const MAX_FILE_BYTES = 5 * 1024 * 1024
const MAX_OBJECTS = 1_000
const NOWHERE = { repository: '', file: '', line: 0, column: 0 }

type Sealed = Pick<NodeValues, 'files' | 'sealed'>

/**
 * What is encrypted in the objects of a node, in its patches, and in files that its Secrets are generated from, in clear: opened with the keys
 * that its account may read, so that no tenant can use those of another, and those of services that are listed for its
 * namespace. What was opened before is not opened again. Throws `cluster-invalid` or `cluster-forbidden`, without any value.
 */
export async function openSealed(
  client: ClusterClient,
  node: EvaluatedNode,
  kms?: Kms,
  memory?: OpenedMemory,
): Promise<Sealed> {
  const { decryption } = node
  if (!decryption) return { files: new Map(), sealed: new Map() }
  const { secret, files = [], seals } = decryption
  const what = { user: node.user, namespace: node.namespace, secret, files, seals }
  const known = memory?.get(node.key, what)
  if (known) return known
  if (files.length > MAX_FILES) throw tooMuch(`more than ${MAX_FILES} encrypted files`)
  if (seals.length > MAX_OBJECTS) throw tooMuch(`more than ${MAX_OBJECTS} encrypted objects`)
  const large = files.find(({ text }) => Buffer.byteLength(text) > MAX_FILE_BYTES)
  if (large) throw tooMuch(`${large.path.slice(0, 200)} has more than ${MAX_FILE_BYTES} bytes`)
  const identities = await identitiesOf(client, node, secret, kms)
  const opened = { files: await openFiles(files, identities), sealed: await openObjects(seals, identities) }
  memory?.keep(node.key, what, opened)
  return opened
}

async function openFiles(
  files: NonNullable<NonNullable<EvaluatedNode['decryption']>['files']>,
  identities: Identities,
): Promise<Sealed['files']> {
  const plain = new Map<string, Uint8Array>()
  for (const { path, format, text } of files) {
    plain.set(path, await named(path.slice(0, 200), () => decryptFile(text, format, identities)))
  }
  return plain
}

async function openObjects(seals: readonly string[], identities: Identities): Promise<Sealed['sealed']> {
  const sealed = new Map<string, Map<string, ScalarValue>>()
  for (const text of seals) {
    const object = parseExact(text)
    const root = nodeOf(object, NOWHERE)
    if (root.type !== 'map') continue
    const values = await named(display(idOf(object)), () => decryptObject(root, identities))
    const block = canonical(at(root, ['sops'])!)
    const own = sealed.get(block) ?? new Map()
    sealed.set(block, own)
    for (const [id, value] of values) own.set(id, value)
  }
  return sealed
}

async function named<T>(what: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    throw new BailiwickError('cluster-invalid', `${what} ${error.message}`, { fix: error.fix })
  }
}

function tooMuch(what: string): BailiwickError {
  return new BailiwickError('cluster-invalid', what, { fix: 'Use fewer or smaller files.' })
}
