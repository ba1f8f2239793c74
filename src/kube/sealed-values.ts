import { at, type MapNode, type Node, stringAt } from './node.ts'
import type { KubeObject } from './object.ts'

const VALUE =
  /^ENC\[AES256_GCM,data:[A-Za-z0-9+/]*={0,2},iv:[A-Za-z0-9+/]+={0,2},tag:[A-Za-z0-9+/]+={0,2},type:(?:str|int|float|bool|bytes|time|comment)\]$/

/** Whether text has the form of a value that SOPS encrypted. */
export const isSealedValue = (text: string): boolean => text.startsWith('ENC[') && VALUE.test(text)

/** What SOPS binds a value to: the names on the way to it. A list adds nothing. */
export const sealedPlace = (path: readonly string[]): string => `${path.join(':')}:`

/** By which an encrypted value is found again: it cannot be opened at another place. */
export const sealedId = (path: readonly string[], text: string): string => JSON.stringify([sealedPlace(path), text])

const SWITCH = 'kustomize.toolkit.fluxcd.io/decrypt'

/**
 * What SOPS wrote beside the values of an object that kustomize-controller decrypts after the build (internal/decryptor,
 * isSOPSEncryptedResource); undefined for one that it leaves as it is.
 */
export function sealOf({ root }: Pick<KubeObject, 'root'>): MapNode | undefined {
  const block = root.fields.get('sops')?.value
  if (block?.type !== 'map' || isNothing(at(block, ['mac']))) return undefined
  return isLeftSealed({ root }) ? undefined : block
}

/** Whether an object says that kustomize-controller shall not decrypt it. */
export const isLeftSealed = ({ root }: Pick<KubeObject, 'root'>): boolean =>
  stringAt(root, ['metadata', 'annotations', SWITCH])?.toLowerCase() === 'disabled'

function isNothing(node: Node | undefined): boolean {
  if (!node) return true
  if (node.type === 'scalar') return node.value === null || node.value === ''
  return node.type === 'list' ? node.items.length === 0 : node.fields.size === 0
}
