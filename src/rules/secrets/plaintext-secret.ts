import type { FleetNode } from '../../fleet/fleet.ts'
import { at, type Node } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { Breach, Rule } from '../rule.ts'
import { shown, shownObject } from '../shown.ts'
import { isSealed, isSopsFile, isSopsValue } from './sops.ts'

/** Values of a Secret in git are SOPS ciphertext, each of them; whoever the Secret belongs to. */
export const plaintextSecret: Rule = {
  id: 'plaintext-secret',
  severity: 'high',
  title: 'Secrets in git are encrypted',
  why: 'A plain value in git is known to everybody who can or ever could read the repository, its forks and its history. Base64 is no encryption, and a `sops` block does not make the values beside it secret.',
  docs: "Encrypt `data` and `stringData` with `sops --encrypt --encrypted-regex '^(data|stringData)$'`, keep the `sops` block, and change the value that was in the open.",
  kinds: ['/Secret'],
  checkObject: ({ object, node }) => judge(node, object),
}

function* judge(node: FleetNode, object: KubeObject): Iterable<Breach> {
  const sealed = isSealed(object)
  for (const part of ['data', 'stringData']) {
    const values = at(object.root, [part])
    if (!values || isEmpty(values)) continue
    if (values.type !== 'map') {
      yield breach(node, object, [part])
      continue
    }
    for (const [key, { value }] of values.fields) {
      if (!isEmpty(value) && !isEncrypted(value, part, sealed)) yield breach(node, object, [part, key])
    }
  }
}

const isEmpty = (node: Node) => node.type === 'scalar' && (node.value === null || node.value === '')

function isEncrypted(node: Node, part: string, sealed: boolean): boolean {
  if (node.type !== 'scalar' || typeof node.value !== 'string') return false
  const content = Buffer.from(node.value, part === 'data' ? 'base64' : 'utf8')
  // Flux moves stringData into data before it applies, so ciphertext may stand there as it is or in base64.
  if (sealed && (isSopsValue(node.value) || isSopsValue(content.toString('utf8')))) return true
  // A generator puts a whole encrypted file into one key; Flux decrypts the file before it builds.
  return isSopsFile(content)
}

function breach(node: FleetNode, object: KubeObject, path: string[]): Breach {
  const { kind, namespace, name } = idOf(object)
  return {
    node,
    object,
    path,
    // Not the value itself: a hash of it in public would let people try words against it.
    value: 'plain',
    message: `${shownObject(kind, namespace, name)} has a value that is not encrypted, at ${path.map(shown).join(' ')}. Allowed are values that SOPS encrypted, with their sops block. Flux and Kubernetes would take it as it is.`,
    fix: 'Encrypt the Secret with SOPS and change the value, which is known now.',
  }
}
