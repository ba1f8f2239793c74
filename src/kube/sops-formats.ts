/** Formats of encrypted files that the worker opens. */
export type SopsFormat = 'dotenv' | 'json' | 'yaml' | 'binary'

/**
 * As which format kustomize-controller opens a file before the build, by the path or key that a generator gives it (sops
 * formats.FormatForPath); undefined: as INI, which is not known how to write as it does.
 */
export function sopsFormatOf(path: string): SopsFormat | undefined {
  if (path.endsWith('.ini')) return undefined
  if (/\.ya?ml$/.test(path)) return 'yaml'
  if (/\.(?:json|dockerconfigjson)$/.test(path)) return 'json'
  return path.endsWith('.env') ? 'dotenv' : 'binary'
}

const MARKS: Readonly<Record<SopsFormat, string>> = {
  dotenv: 'sops_mac=ENC[',
  json: '"mac": "ENC[',
  yaml: 'mac: ENC[',
  binary: '"mac": "ENC[',
}

/** What tells it that a file of the format is encrypted: without, it stays as it is. */
export const hasSopsMark = (format: SopsFormat, text: string): boolean => text.includes(MARKS[format])
