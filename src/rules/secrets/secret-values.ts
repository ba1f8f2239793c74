import { at, type Node, type Path } from '../../kube/node.ts'
import { isSopsFile, isSopsValue } from './sops.ts'

/** Paths of the values of a Secret that are not encrypted; `sealed`: it carries the block that SOPS leaves. */
export function* plainValues(secret: Node, sealed: boolean): Iterable<Path> {
  for (const part of ['data', 'stringData']) {
    const values = at(secret, [part])
    if (!values || isEmpty(values)) continue
    if (values.type !== 'map') {
      yield [part]
      continue
    }
    for (const [key, { value }] of values.fields) {
      if (!isEmpty(value) && !isEncrypted(value, part, sealed)) yield [part, key]
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
  // nobody reads in git what only the cluster has
  if (node.opaque && [node.value, content.toString('utf8')].some(text => VARIABLES.test(text))) return true
  // A generator puts a whole encrypted file into one key; Flux decrypts the file before it builds.
  return isSopsFile(content)
}
