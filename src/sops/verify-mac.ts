import { createHash, type Hash } from 'node:crypto'
import { at, isTrue, type Node, type ScalarNode, stringAt } from '../kube/node.ts'
import { isSealedValue } from '../kube/sealed-values.ts'
import { dataKey, type Identities, keysForAge } from './data-key.ts'
import { openValue } from './open-value.ts'

/**
 * `sound`: nothing of the file was changed without its key. `changed`: what is not encrypted was, or the order of values; the
 * controller does not notice. `corrupt`: an encrypted value does not open with the key of the file. `locked`: what is written
 * for a recipient does not open with its key. `unknown`: no key is at hand, or it holds what SOPS could not have written.
 */
type Seal = 'sound' | 'unknown' | 'changed' | 'corrupt' | 'locked'

/** What SOPS begins with where only encrypted values count: the SHA-256 of `sops`. */
const ONLY_ENCRYPTED = createHash('sha256').update('sops').digest()

/**
 * Whether the MAC of a file holds, over all its documents, as `sops decrypt` would find (getsops/sops, Tree.Decrypt).
 * kustomize-controller does not look at it.
 */
export async function verifyMac(documents: readonly Node[], identities: Identities): Promise<Seal> {
  const block = documents.map(root => at(root, ['sops'])).find(node => node?.type === 'map')
  if (!block) return 'unknown'
  const own = await keysForAge(block, identities.age)
  if (own.includes('locked')) return 'locked'
  const keys = own.length > 0 ? own : [await dataKey(block, identities)]
  const seals = keys.map(key => (key instanceof Uint8Array ? sealBy(documents, block, key) : 'unknown'))
  // recipients may open to different keys: at most one of them is that of the values
  return SEALS.find(seal => seals.includes(seal))!
}

const SEALS: readonly Seal[] = ['corrupt', 'changed', 'unknown', 'sound']

function sealBy(documents: readonly Node[], block: Node, key: Uint8Array): Seal {
  const written = openValue(stringAt(block, ['mac']) ?? '', key, stringAt(block, ['lastmodified']) ?? '')
  const onlyEncrypted = isTrue(at(block, ['mac_only_encrypted']))
  const hash = createHash('sha512')
  if (onlyEncrypted) hash.update(ONLY_ENCRYPTED)
  for (const root of documents) {
    const seal = walk(root, { key, hash, onlyEncrypted }, [])
    if (seal !== 'sound') return seal
  }
  return hash.digest('hex').toUpperCase() === written?.toString('latin1') ? 'sound' : 'changed'
}

interface Walk {
  readonly key: Uint8Array
  readonly hash: Hash
  readonly onlyEncrypted: boolean
}

/** Every value in the order of the file; a list adds nothing to the path of its items. */
function walk(node: Node, to: Walk, path: readonly string[]): Seal {
  if (node.type === 'scalar') return add(node, to, path)
  const parts =
    node.type === 'list'
      ? node.items.map(item => [item, path] as const)
      : [...node.fields].map(([name, { value }]) => [value, [...path, name]] as const)
  for (const [part, place] of parts) {
    if (path.length === 0 && place[0] === 'sops' && place.length === 1) continue
    const seal = walk(part, to, place)
    if (seal !== 'sound') return seal
  }
  return 'sound'
}

function add(node: ScalarNode, { key, hash, onlyEncrypted }: Walk, path: readonly string[]): Seal {
  if (node.value === null) return 'sound'
  if (typeof node.value === 'string' && isSealedValue(node.value)) {
    const plain = openValue(node.value, key, `${path.join(':')}:`)
    if (!plain) return 'corrupt'
    hash.update(plain)
    return 'sound'
  }
  if (onlyEncrypted) return 'sound'
  const text = textOf(node.value)
  if (text === undefined) return 'unknown'
  hash.update(text)
  return 'sound'
}

/** As Go writes a value without its type; a number that Go and JavaScript write differently is left out. */
function textOf(value: Exclude<ScalarNode['value'], null>): string | undefined {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  const text = String(value)
  return typeof value === 'number' && /[eIN]/.test(text) ? undefined : text
}
