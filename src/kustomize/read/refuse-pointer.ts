import { BailiwickError } from '../../errors.ts'
import type { Origin } from '../../origin.ts'

const POINTER = /^version https?:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/v\d/
const MAX_POINTER = 1024

/**
 * Throws rule `git-lfs-pointer` for a file that stands for another one which Git LFS keeps: source-controller never
 * fetches that, so the cluster gets the pointer while people see the file. Format: git-lfs, docs/spec.md.
 */
export function refusePointer(bytes: Uint8Array, origin: Origin): void {
  // 118 is the `v` that every pointer begins with
  if (bytes[0] !== 118 || bytes.length > MAX_POINTER || !POINTER.test(Buffer.from(bytes).toString('latin1'))) return
  const message = `${origin.file} is a pointer of Git LFS; Flux does not fetch what it points at`
  throw new BailiwickError('kustomize-unsupported', message, {
    origin,
    rule: 'git-lfs-pointer',
    fix: 'Keep the file itself in git: git lfs untrack, then add it again.',
  })
}
