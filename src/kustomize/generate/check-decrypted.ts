import { BailiwickError } from '../../errors.ts'
import { isSopsEncrypted } from '../../kube/sops-marks.ts'
import type { BuildFiles } from '../build-files.ts'
import type { Entry } from '../entry.ts'
import type { Kustomization } from '../kustomization.ts'

/**
 * For a Kustomization with `spec.decryption` Flux decrypts files in place before it builds, those of Secrets and of
 * patches (kustomize-controller internal/decryptor). Throws `kustomize-unsupported` where SOPS encrypted one: what the
 * build would make of it is not known here.
 */
export function checkDecrypted(kustomization: Kustomization, files: BuildFiles): void {
  const { directory } = kustomization
  for (const entry of decryptedFiles(kustomization)) {
    if (entry.text === '' || files.typeOf(directory, entry) !== 'file') continue
    const { path, bytes } = files.bytesBeside(directory, entry)
    if (!isSopsEncrypted(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))) continue
    const message = `${path} is encrypted; Flux decrypts it before the build, so that what it makes is not known here`
    const fix = 'Keep the encrypted Secret itself under resources.'
    throw new BailiwickError('kustomize-unsupported', message, { origin: entry.origin, fix })
  }
}

function decryptedFiles({ secretGenerator, patches }: Kustomization): readonly Entry[] {
  const sources = secretGenerator.flatMap(entry => entry.files)
  const files = sources.map(({ text, origin }) => ({ text: text.slice(text.indexOf('=') + 1), origin }))
  return [...files, ...secretGenerator.flatMap(entry => entry.envs), ...patches.flatMap(({ path }) => path ?? [])]
}
