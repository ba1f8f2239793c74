import { at, type Node, type Path } from '../../../kube/node.ts'
import { isSopsFile, isSopsValue } from './sops.ts'
import { type Harmless, harmlessValue } from './value-in-the-open.ts'

/** A value of a Secret that nothing encrypts; `harmless`: why it is no secret all the same. */
export interface OpenValue {
  readonly path: Path
  readonly harmless?: Harmless
}

/** The values of a Secret that are not encrypted; `sealed`: it carries the block that SOPS leaves. */
export function* openValues(secret: Node, sealed: boolean): Iterable<OpenValue> {
  for (const part of ['data', 'stringData']) {
    const values = at(secret, [part])
    if (!values || isEmpty(values)) continue
    if (values.type !== 'map') {
      yield { path: [part] }
      continue
    }
    for (const [key, { value }] of values.fields) {
      if (isEmpty(value) || isEncrypted(value, part, sealed)) continue
      const harmless = harmlessOf(key, value, part)
      yield { path: [part, key], ...(harmless ? { harmless } : {}) }
    }
  }
}

/** Nothing but variables, without a default that would stand in git. */
const VARIABLES = /^(?:\$\{\w+\})+$/

const isEmpty = (node: Node) => node.type === 'scalar' && (node.value === null || node.value === '')

function isEncrypted(node: Node, part: string, sealed: boolean): boolean {
  if (node.type !== 'scalar' || typeof node.value !== 'string') return false
  const content = Buffer.from(node.value, part === 'data' ? 'base64' : 'utf8')
  // Flux moves stringData into data before it applies, so ciphertext may stand there as it is or in base64.
  if (sealed && (isSopsValue(node.value) || isSopsValue(content.toString('utf8')))) return true
  // a line of an encrypted env file, which Flux decrypts before it builds
  if (node.opaque?.length === 0 && isSopsValue(content.toString('utf8'))) return true
  // nobody reads in git what only the cluster has
  if (node.opaque && [node.value, content.toString('utf8')].some(text => VARIABLES.test(text))) return true
  // A generator puts a whole encrypted file into one key; Flux decrypts the file before it builds.
  return isSopsFile(content)
}

function harmlessOf(key: string, node: Node, part: string): Harmless | undefined {
  if (node.type !== 'scalar') return undefined
  const text = String(node.value)
  if (part === 'stringData') return harmlessValue(key, text)
  // what Flux substitutes into data stands there before base64
  const asWritten = harmlessValue(key, text)
  if (asWritten === 'a variable' || asWritten === 'a placeholder') return asWritten
  const content = Buffer.from(text, 'base64')
  // bytes that are no text are a key store, or may be
  return content.length > 0 && isText(content) ? harmlessValue(key, content.toString('utf8')) : undefined
}

const isText = (bytes: Buffer): boolean => {
  const text = bytes.toString('utf8')
  return !text.includes('\ufffd') && !text.includes('\0')
}
