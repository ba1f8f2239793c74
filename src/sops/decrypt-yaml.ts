import { BailiwickError } from '../errors.ts'
import { withoutField } from '../kube/edit-node.ts'
import type { MapNode, ScalarNode, ScalarValue } from '../kube/node.ts'
import { isSealedValue, sealedId } from '../kube/sealed-values.ts'
import { parseDocuments } from '../kube/yaml/parse-documents.ts'
import type { Identities } from './data-key.ts'
import { decryptObject } from './decrypt-object.ts'
import { sealedType } from './open-value.ts'
import { type NotWritten, writeYamlFile } from './write-yaml-file.ts'

/**
 * A YAML file in clear, byte for byte as `sops decrypt` writes it, but for comments, which are left out. Throws
 * `cluster-invalid`, without any value: as decryptObject, and for what is not known how sops writes it.
 */
export async function decryptYaml(text: string, identities: Identities): Promise<Uint8Array> {
  const root = readMap(text)
  const values = await decryptObject(root, identities)
  const written = writeYamlFile(withoutField(root, 'sops'), (node, path) => plainOf(node, path, values))
  if (typeof written === 'string') return Buffer.from(written)
  const where = written.path.join('.').slice(0, 200)
  throw cannot(`${where} ${written.reason}`, 'Write it in another form, as text in quotes, and encrypt the file again.')
}

function readMap(text: string): MapNode {
  const refused = () => cannot('it is not one YAML document with a map', 'Encrypt the file again.')
  try {
    const [root, ...others] = parseDocuments({ repository: '', path: 'secret' }, Buffer.from(text))
    if (root?.type === 'map' && others.length === 0) return root
  } catch (error) {
    // the words of a parser quote the file
    if (error instanceof BailiwickError) throw refused()
    throw error
  }
  throw refused()
}

const TIMESTAMP = /^\d{4}-\d{1,2}-\d{1,2}/

/** The value that is written; what it is for Go must be known, not only what its text says. */
function plainOf(
  { value, quoted, style, text = '' }: ScalarNode,
  path: readonly string[],
  values: ReadonlyMap<string, ScalarValue>,
): ScalarValue | NotWritten {
  const isSealed = typeof value === 'string' && isSealedValue(value)
  if (isSealed) {
    const type = sealedType(value)
    const plain = values.get(sealedId(path, value))
    if (plain === undefined || type === 'bytes') return { path, reason: `was encrypted as ${type}` }
    return type === 'float' && !isShortFloat(plain)
      ? { path, reason: 'is a number of a form that is not supported' }
      : plain
  }
  const isPlain = !quoted && style === undefined
  if (isPlain && typeof value === 'string' && TIMESTAMP.test(value)) return { path, reason: 'is a date' }
  const isFloat = typeof value === 'number' && (!Number.isInteger(value) || /[.eE]/.test(text))
  return isFloat && !isShortFloat(value) ? { path, reason: 'is a number of a form that is not supported' } : value
}

/** Those that Go and JavaScript write in the same way. */
function isShortFloat(value: ScalarValue): boolean {
  const size = Math.abs(Number(value))
  return typeof value === 'number' && (size === 0 || (size >= 0.0001 && size < 1e6)) && !Object.is(value, -0)
}

function cannot(what: string, fix: string): BailiwickError {
  return new BailiwickError('cluster-invalid', `cannot be decrypted: ${what}`, { fix })
}
