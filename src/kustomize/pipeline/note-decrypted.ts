import { BailiwickError } from '../../errors.ts'
import { isSopsEncrypted } from '../../kube/sops-marks.ts'
import type { Kustomization } from '../fields/kustomization.ts'
import type { Entry } from '../model/entry.ts'
import type { BuildFiles } from './build-files.ts'

/**
 * For a Kustomization with `spec.decryption` Flux decrypts files in place before it builds, those of Secrets and of
 * patches (kustomize-controller internal/decryptor). Takes note of what SOPS encrypted: a Secret of it has unknown
 * values. Throws `kustomize-unsupported` for a patch: what the build would make of it is not known here.
 */
export function noteDecrypted(
  { directory, secretGenerator, patches }: Pick<Kustomization, 'directory' | 'secretGenerator' | 'patches'>,
  files: BuildFiles,
): void {
  for (const entry of patches.flatMap(({ path }) => path ?? [])) {
    const path = encryptedPath(directory, entry, files)
    if (path === undefined) continue
    const message = `patch ${path}: encrypted, so what it changes is unknown`
    const fix = 'Write the patch in plain text, or list the encrypted Secret under `resources`.'
    throw new BailiwickError('kustomize-unsupported', message, { origin: entry.origin, fix, sealed: path })
  }
  const sources = secretGenerator.flatMap(entry => entry.files)
  const named = sources.map(({ text, origin }) => ({ text: text.slice(text.indexOf('=') + 1), origin }))
  for (const entry of [...named, ...secretGenerator.flatMap(one => one.envs)]) {
    const path = encryptedPath(directory, entry, files)
    if (path !== undefined) files.noteDecrypted(path, entry.origin)
  }
}

function encryptedPath(directory: string, entry: Entry, files: BuildFiles): string | undefined {
  if (entry.text === '' || files.typeOf(directory, entry) !== 'file') return undefined
  const { path, bytes } = files.bytesBeside(directory, entry)
  return isSopsEncrypted(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) ? path : undefined
}
