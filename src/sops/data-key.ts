import { at, type Node, stringAt } from '../kube/node.ts'

/**
 * The key by which SOPS encrypted the values of a document, opened with one of these age identities (`AGE-SECRET-KEY-1...`).
 * Undefined where none of them fits, or the key is split among groups. Never throws for what a document holds.
 */
export async function dataKey(block: Node, identities: readonly string[]): Promise<Uint8Array | undefined> {
  const groups = at(block, ['key_groups'])
  if (groups?.type === 'list' && groups.items.length > 1) return undefined
  const list = at(block, ['age']) ?? at(groups, [0, 'age'])
  for (const item of list?.type === 'list' ? list.items : []) {
    const key = await opened(stringAt(item, ['enc']) ?? '', identities)
    if (key) return key
  }
  return undefined
}

async function opened(text: string, identities: readonly string[]): Promise<Uint8Array | undefined> {
  if (identities.length === 0 || text.length > 64 * 1024) return undefined
  // most fleets are evaluated without a key, and the library takes as long to load as all that renders
  const { armor, Decrypter } = await import('age-encryption')
  const decrypter = new Decrypter()
  for (const identity of identities) decrypter.addIdentity(identity)
  try {
    const key = await decrypter.decrypt(armor.decode(text))
    return key.length === 32 ? key : undefined
  } catch {
    // the library throws plain errors, for another recipient as for damaged text; both mean that this key does not open it
    return undefined
  }
}
