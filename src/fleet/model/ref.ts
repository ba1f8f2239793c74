import type { SourceRef } from './source-ref.ts'

/**
 * One form per ref, by Flux's precedence (a registry's; commit, name, semver, tag, branch; none is branch master), so that equal
 * content has one key. Source: the API of GitRepository v1, `spec.ref`.
 */
export function canonicalRef(ref: SourceRef): SourceRef {
  if (ref.registry) return { registry: ref.registry }
  if (ref.commit) return { commit: ref.commit }
  if (ref.name?.startsWith('refs/heads/')) return { branch: ref.name.slice('refs/heads/'.length) }
  if (ref.name?.startsWith('refs/tags/')) return { tag: ref.name.slice('refs/tags/'.length) }
  if (ref.name) return { name: ref.name }
  if (ref.semver) return { semver: ref.semver }
  if (ref.tag) return { tag: ref.tag }
  return { branch: ref.branch || 'master' }
}

/** Text that is equal for refs that follow the same thing. */
export function refKey(ref: SourceRef): string {
  return JSON.stringify(canonicalRef(ref))
}
