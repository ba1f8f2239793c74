import { BailiwickError } from '../../errors.ts'
import type { Node } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'

/** Whether a value, or one in it, is unknown: during a build, one of a Secret that Flux makes of an encrypted file. */
export function isUnknown(node: Node | undefined): boolean {
  if (!node) return false
  if (node.type === 'scalar') return node.opaque !== undefined
  if (node.type === 'list') return node.items.some(isUnknown)
  for (const { value } of node.fields.values()) if (isUnknown(value)) return true
  return false
}

/** Throws `kustomize-unsupported` where a build would copy, cut or compare a value that is unknown. */
export function refuseUnknown(node: Node | undefined, origin: Origin): void {
  if (!isUnknown(node)) return
  const message = 'this field depends on an encrypted value, which only the cluster can decrypt'
  throw new BailiwickError('kustomize-unsupported', message, {
    origin,
    fix: 'Do not patch or copy the data of that Secret.',
  })
}
