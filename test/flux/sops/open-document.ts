import { openSealed } from '../../../src/flux/render-kustomization.ts'
import { decryptObject, type Identities } from '../../../src/flux/sops/decrypt-object.ts'
import { canonical, type Json, type MapNode, toJson } from '../../../src/kube/node.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'

type Plain = { readonly [field: string]: Json }

/** An encrypted document in clear, as it is applied: its values are decrypted, then put in where it is built. */
export async function openDocument(given: MapNode | Plain, identities: Identities): Promise<{ [field: string]: Json }> {
  return toJson(await openedRoot(given, identities)) as { [field: string]: Json }
}

export async function openedRoot(given: MapNode | Plain, identities: Identities): Promise<MapNode> {
  const root = isNode(given) ? given : rootOf(JSON.stringify(given))
  const values = await decryptObject(root, identities)
  const [object] = openSealed([{ root, trail: [] }], new Map([[canonical(root.fields.get('sops')!.value), values]]))
  if (object!.sealed) throw new Error('some of it is still encrypted')
  return object!.root
}

const isNode = (given: MapNode | Plain): given is MapNode => 'fields' in given && given.fields instanceof Map

export function rootOf(text: string): MapNode {
  const [root] = parseDocuments({ repository: '', path: 'secret.yaml' }, Buffer.from(text))
  if (root?.type !== 'map') throw new Error('no map')
  return root
}
