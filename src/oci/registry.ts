import type { RegistryRef } from '../fleet/model/source-ref.ts'
import type { TreeSnapshot } from '../git/tree.ts'
import { askRegistry, assertDigest, unreadable } from './ask-registry.ts'
import { findHead, MANIFEST_TYPES, MAX_MANIFEST_BYTES, type RegistryHead } from './find-head.ts'
import type { RegistryPlace } from './list-tags.ts'
import type { RegistryHost } from './registry-hosts.ts'
import { unpackArtifact } from './unpack-artifact.ts'

/** Artifacts of the registries that the operator allows, read through their API. */
export interface Registry {
  /** Those that may be asked, as artifacts name them. */
  readonly hosts: readonly string[]
  /**
   * What a ref stands for now, a range for its latest version; undefined where the tag or the digest is not there, or may
   * not be read.
   * Throws `source-unreadable` with the reason for a registry that may not be asked or does not answer.
   */
  headOf(url: string, ref: RegistryRef): Promise<RegistryHead | undefined>
  /** The artifact with this digest; the same artifact is read once. Throws as headOf, and as unpackArtifact. */
  content(url: string, ref: RegistryRef, digest: string): Promise<RegistryContent>
}

/** What an artifact holds. */
interface RegistryContent {
  readonly tree: TreeSnapshot
  /** The revision that it was built from, as the annotation `org.opencontainers.image.revision` of its manifest names it. */
  readonly originRevision?: string
}

const ORIGIN_REVISION = 'org.opencontainers.image.revision'
/** Longer ones are not passed on: they would go into each status and event. */
const MAX_REVISION_LENGTH = 1024

const MAX_BLOB_BYTES = 64 * 1024 * 1024
/** Bytes of unpacked artifacts that are kept for the next evaluation. */
const MAX_KEPT_BYTES = 128 * 1024 * 1024
/** Where the images are that call their registry docker.io. */
const DOCKER_HUB = 'registry-1.docker.io'
const DIGEST = /^sha256:[0-9a-f]{64}$/

/** Registries as the operator names them. */
export function openRegistry(hosts: readonly RegistryHost[]): Registry {
  const kept = new Map<string, RegistryContent>()
  const ask = (
    place: RegistryPlace,
    path: string,
    limit: number,
    more: { method?: 'HEAD'; accept?: readonly string[] } = {},
  ) => askRegistry(hosts, place.host, { ...place, path: `${place.repository}/${path}`, limit, ...more })
  const manifest = async (place: RegistryPlace, digest: string): Promise<Manifest> => {
    const { status, bytes } = await ask(place, `manifests/${digest}`, MAX_MANIFEST_BYTES, {
      accept: MANIFEST_TYPES,
    })
    if (status !== 200) throw answered(place, `the manifest ${digest}`, status)
    assertDigest(bytes, digest, place.host)
    return readManifest(bytes, place)
  }
  return {
    hosts: hosts.map(({ host }) => (host === DOCKER_HUB ? 'docker.io' : host)),
    async headOf(url, ref) {
      return await findHead(hosts, placeAt(hosts, url, ref), ref)
    },
    async content(url, ref, digest) {
      const place = placeAt(hosts, url, ref)
      const key = JSON.stringify([url, digest, ref.layer ?? null])
      const known = kept.get(key)
      if (known) return known
      const whole = await manifest(place, digest)
      const image = whole.type === 'index' ? await manifest(place, whole.digest) : whole
      if (image.type === 'index') throw unreadable(`${url} is an index of indexes, which Flux does not follow`)
      const layer = image.layers.find(one => ref.layer === undefined || one.mediaType === ref.layer)
      if (!layer)
        throw unreadable(
          `${url} has no layer ${ref.layer === undefined ? '' : `of the media type ${ref.layer}`}`.trim(),
        )
      const { status, bytes } = await ask(place, `blobs/${layer.digest}`, MAX_BLOB_BYTES)
      if (status !== 200) throw answered(place, 'the layer', status)
      assertDigest(bytes, layer.digest, place.host)
      const { originRevision } = image
      const tree = await unpackArtifact(`${url}@${digest}`, bytes)
      const content = { tree, ...(originRevision === undefined ? {} : { originRevision }) }
      keep(kept, key, content)
      return content
    },
  }
}

function placeAt(hosts: readonly RegistryHost[], url: string, { anonymous }: RegistryRef): RegistryPlace {
  const [, name = '', repository = ''] = /^oci:\/\/([^/]+)\/(.+)$/.exec(url) ?? []
  const wanted = name === 'docker.io' ? DOCKER_HUB : name
  const host = hosts.find(one => one.host === wanted)
  if (!host) throw unreadable(`${wanted || 'the registry'} is not in OCI_HOSTS`)
  // Docker's own images are called without the folder in which they are
  const isShort = name === 'docker.io' && !repository.includes('/')
  return { host, repository: isShort ? `library/${repository}` : repository, anonymous: anonymous === true }
}

type Manifest =
  | {
      readonly type: 'image'
      readonly layers: readonly { readonly mediaType: string; readonly digest: string }[]
      readonly originRevision?: string
    }
  | { readonly type: 'index'; readonly digest: string }

/** What go-containerregistry takes where an index is given and no platform is asked for. */
const PLATFORM = { os: 'linux', architecture: 'amd64' }

function readManifest(bytes: Uint8Array, { host }: RegistryPlace): Manifest {
  let parsed: Record<string, unknown> = {}
  try {
    parsed = JSON.parse(Buffer.from(bytes).toString('utf8')) ?? {}
  } catch {
    // an answer without layers, said below
  }
  const digestOf = (entry: unknown): { mediaType: string; digest: string; platform?: typeof PLATFORM } | undefined => {
    const { mediaType = '', digest, platform } = (entry ?? {}) as Record<string, unknown>
    if (typeof mediaType !== 'string' || typeof digest !== 'string' || !DIGEST.test(digest)) return undefined
    return { mediaType, digest, ...(platform ? { platform: platform as typeof PLATFORM } : {}) }
  }
  const list = (value: unknown) => (Array.isArray(value) ? value.map(digestOf) : [])
  const layers = list(parsed.layers)
  if (layers.length > 0 && layers.every(one => one !== undefined)) return { type: 'image', layers, ...originIn(parsed) }
  const found = list(parsed.manifests).find(
    one => one?.platform?.os === PLATFORM.os && one.platform.architecture === PLATFORM.architecture,
  )
  if (found) return { type: 'index', digest: found.digest }
  throw unreadable(`${host.host} answers with a manifest without layers that Flux could read`)
}

function originIn({ annotations }: Record<string, unknown>): { originRevision?: string } {
  const revision = (annotations as Record<string, unknown> | null | undefined)?.[ORIGIN_REVISION]
  const isUsable = typeof revision === 'string' && revision !== '' && revision.length <= MAX_REVISION_LENGTH
  return isUsable ? { originRevision: revision } : {}
}

function answered({ host }: RegistryPlace, what: string, status: number) {
  return unreadable(`${host.host} answers with status ${status} when asked for ${what}`)
}

function keep(kept: Map<string, RegistryContent>, key: string, content: RegistryContent): void {
  kept.set(key, content)
  let bytes = 0
  for (const { tree } of kept.values()) bytes += tree.bytes.length
  for (const [oldest, one] of kept) {
    if (bytes <= MAX_KEPT_BYTES) break
    kept.delete(oldest)
    bytes -= one.tree.bytes.length
  }
}
