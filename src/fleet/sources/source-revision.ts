import { canonicalRef } from '../model/ref.ts'
import type { SourceRef } from '../model/source-ref.ts'

/**
 * The revision of an artifact as source-controller writes it: `main@sha1:<commit>`, `latest@sha256:<digest>`. Which tag a
 * semver range stands for is not known, so of those the commit alone.
 * Source: fluxcd/pkg git (Commit.String), source-controller GitRepository and OCIRepository.
 */
export function sourceRevision(ref: SourceRef, commit: string): string {
  if (commit === '') return ''
  if (ref.registry) {
    const { digest, semver, tag = 'latest' } = ref.registry
    return digest || semver ? commit : `${tag}@${commit}`
  }
  const { branch, tag, name } = ref.commit ? { ...ref, tag: undefined, name: undefined } : canonicalRef(ref)
  const short = name?.startsWith('refs/') ? name.split('/').slice(2).join('/') : undefined
  const followed = branch ?? tag ?? short
  return followed ? `${followed}@sha1:${commit}` : `sha1:${commit}`
}
