import { canonicalRef } from '../model/ref.ts'
import type { SourceRef } from '../model/source-ref.ts'

/**
 * The revision of an artifact as source-controller writes it: `main@sha1:<commit>`, `latest@sha256:<digest>`. `chosen`: the
 * tag that a range of versions stands for.
 * Source: fluxcd/pkg git (Commit.String), source-controller GitRepository and OCIRepository.
 */
export function sourceRevision(ref: SourceRef, commit: string, chosen?: string): string {
  if (commit === '') return ''
  if (ref.registry) {
    const { digest, semver, tag = 'latest' } = ref.registry
    const followed = digest ? undefined : semver ? chosen : tag
    return followed ? `${followed}@${commit}` : commit
  }
  const { branch, tag, name } = ref.commit ? { ...ref, tag: undefined, name: undefined } : canonicalRef(ref)
  const short = name?.startsWith('refs/') ? name.split('/').slice(2).join('/') : undefined
  const followed = ref.semver && !ref.commit && !ref.name ? chosen : (branch ?? tag ?? short)
  return followed ? `${followed}@sha1:${commit}` : `sha1:${commit}`
}
