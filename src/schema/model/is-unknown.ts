import type { Node } from '../../kube/node.ts'

/** What only the cluster has, or what SOPS encrypted, can be anything. */
export const isUnknown = (node: Node): boolean =>
  node.type === 'scalar' &&
  (node.opaque !== undefined || (typeof node.value === 'string' && node.value.startsWith('ENC[AES256_GCM,')))
