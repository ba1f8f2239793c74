/** Formats of encrypted files that the worker opens. */
export type SopsFormat = 'dotenv' | 'json' | 'binary'

/**
 * As which format kustomize-controller opens a file before the build, by the path or key that a generator gives it (sops
 * formats.FormatForPath); undefined: as YAML or INI, which is not known how to write as it does.
 */
export function sopsFormatOf(path: string): SopsFormat | undefined {
  if (/\.(?:ya?ml|ini)$/.test(path)) return undefined
  if (/\.(?:json|dockerconfigjson)$/.test(path)) return 'json'
  return path.endsWith('.env') ? 'dotenv' : 'binary'
}

/** What tells it that a file of the format is encrypted: without, it stays as it is. */
export const hasSopsMark = (format: SopsFormat, text: string): boolean =>
  text.includes(format === 'dotenv' ? 'sops_mac=ENC[' : '"mac": "ENC[')
