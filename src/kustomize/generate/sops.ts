/** What SOPS writes beside what it has encrypted, in each of its formats (kustomize-controller looks for the same). */
const MARKERS = ['sops_mac=ENC[', '"mac": "ENC[', '"mac":"ENC[', 'mac: ENC[', "mac: 'ENC[", 'mac: "ENC[']

/** Whether SOPS encrypted this file. */
export function isSopsEncrypted(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return MARKERS.some(marker => text.includes(marker)) || (text.includes('[sops]') && text.includes('ENC['))
}
