import type { KubeObject } from './object.ts'

/** What SOPS writes beside what it has encrypted, in each of its formats (kustomize-controller looks for the same). */
const MARKERS = ['sops_mac=ENC[', '"mac": "ENC[', '"mac":"ENC[', 'mac: ENC[', "mac: 'ENC[", 'mac: "ENC[']

/** Whether text or bytes are a file that SOPS encrypted, for kustomize-controller. */
export function isSopsEncrypted(content: { includes(text: string): boolean }): boolean {
  return MARKERS.some(marker => content.includes(marker)) || (content.includes('[sops]') && content.includes('ENC['))
}

/** Whether kustomize-controller decrypts an object as a whole, whatever its kind: it has a field `sops`. */
export const isDecrypted = ({ root, sops }: KubeObject): boolean => sops !== undefined || root.fields.has('sops')
