/** What a source of a repository follows. One of its forms is set; a branch is the default form. */
export interface GitRef {
  readonly branch?: string
  readonly tag?: string
  readonly commit?: string
  readonly semver?: string
  readonly name?: string
}

/** What a source follows. */
export interface SourceRef extends GitRef {
  /** Of an artifact in a registry; none of the others is set then. */
  readonly registry?: RegistryRef
}

/** What an OCIRepository follows in a registry: a digest, or else a range of versions, or else a tag. */
export interface RegistryRef {
  readonly tag?: string
  readonly semver?: string
  /** Regular expression of the tags that count for the range. */
  readonly semverFilter?: string
  readonly digest?: string
  /** Media type of the layer; absent: the first one. */
  readonly layer?: string
  /** The layer is the artifact as it is: nothing is left out of it. */
  readonly copied?: true
  /** Read without credentials: only the platform's declarations are read with the operator's. */
  readonly anonymous?: true
}

/** A source that the graph needs and the input does not hold: read it and build again, or pass it as opaque. */
export interface WantedSource {
  readonly url: string
  readonly ref: SourceRef
}

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

/** Where an OCI artifact lies, without its tag. */
export interface OciReference {
  /** `ghcr.io/acme/fleet`. */
  readonly repository: string
  readonly tag?: string
}

const HOST = /^(?:localhost|[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+)(?::[1-9]\d{0,4})?$/
/** As the distribution specification writes the parts of a name: no dot segments, no capitals, no escapes. */
const PART = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/
const TAG = /^\w[\w.-]{0,127}$/

/**
 * Reads `[oci://]HOST[:PORT]/NAME[:TAG]`. Undefined for what another reader may take for something else: capitals, dot
 * segments, escapes, a digest, a user, a name without a host.
 */
export function ociReference(text: string): OciReference | undefined {
  const address = text.startsWith('oci://') ? text.slice('oci://'.length) : text
  if (address.length > 500) return undefined
  const [host = '', ...parts] = address.split('/')
  const [last = '', tag, more] = (parts.pop() ?? '').split(':')
  if (!HOST.test(host) || more !== undefined || ![...parts, last].every(part => PART.test(part))) return undefined
  if (tag !== undefined && !TAG.test(tag)) return undefined
  const repository = [host, ...parts, last].join('/')
  return tag === undefined ? { repository } : { repository, tag }
}

/** The package of a repository in GitHub's own registry, where its workflows push; undefined for a repository elsewhere. */
export function packageOf(url: string): string | undefined {
  const name = /^https:\/\/github\.com\/([^/]+\/[^/]+)$/.exec(url)?.[1]
  return name === undefined ? undefined : `ghcr.io/${name.toLowerCase()}`
}
