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
  const message = `${origin.file}: Git LFS pointer. Flux does not download the content, so the cluster gets the pointer`
  throw new BailiwickError('kustomize-unsupported', message, {
    origin,
    rule: 'git-lfs-pointer',
    identity: `${origin.file} is a pointer of Git LFS; Flux does not fetch what it points at`,
    fix: 'Store the file in git: run `git lfs untrack`, then add the file again.',
  })
}
