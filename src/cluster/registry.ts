import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import { BailiwickError } from '../base/errors.ts'
import type { RegistryRef } from '../fleet/model/source-ref.ts'
import { chooseTags } from '../fleet/sources/version-range.ts'
import { capped, checkFileSize, checkPaths, checkSize, DEFAULT_LIMITS, type TreeLimits } from '../git/entry-limits.ts'
import { packSnapshot, type SnapshotFile, type TreeSnapshot } from '../git/tree.ts'
import {
  askRegistry,
  assertDigest,
  listTags,
  type RegistryHost,
  type RegistryPlace,
  unreadable,
} from './registry-api.ts'

/** Artifacts of the registries that the operator allows, read through their API. */
export interface Registry {
  /** Those that may be asked, as artifacts name them. */
  readonly hosts: readonly string[]
  /**
   * What a ref stands for now, a range for its latest version; undefined where the tag or the digest is not there, or
   * may not be read. Throws `source-unreadable` with the reason for a registry that is not allowed or does not answer.
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

/** What go-containerregistry takes of an index without a requested platform. */
const PLATFORM = { os: 'linux', architecture: 'amd64' }

function readManifest(bytes: Uint8Array, { host }: RegistryPlace): Manifest {
  let parsed: Record<string, unknown> = {}
  try {
    parsed = JSON.parse(Buffer.from(bytes).toString('utf8')) ?? {}
  } catch {
    // an answer without layers, reported below
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

/** What a tag may stand for: one image, or an index of images. */
const MANIFEST_TYPES: readonly string[] = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
]
const MAX_MANIFEST_BYTES = 4 * 1024 * 1024
/** Tags that may be spellings of one version: `1.0.0`, `v1.0.0`. */
const MAX_EQUAL = 4

/** What a ref stands for now. */
export interface RegistryHead {
  /** `sha256:<hex>`. */
  readonly digest: string
  /** Of a range of versions: its latest tag. */
  readonly tag?: string
}

/** What a ref stands for now; see Registry.headOf. */
async function findHead(
  hosts: readonly RegistryHost[],
  place: RegistryPlace,
  ref: RegistryRef,
): Promise<RegistryHead | undefined> {
  const { digest, semver, semverFilter: filter, layer, tag = 'latest' } = ref
  if (digest !== undefined || semver === undefined) return headWith(await digestAt(hosts, place, digest ?? tag))
  const tags = await listTags(hosts, place)
  if (tags === undefined) return undefined
  const chosen = chooseTags(tags, { semver, filter, layer })
  if (chosen.length === 0) throw unreadable(`${place.repository} on ${place.host.host} has no tag in ${semver}`)
  // of equal versions source-controller takes any, so they must be one artifact
  const some = chosen.slice(0, MAX_EQUAL)
  const digests = new Set(await Promise.all(some.map(one => digestAt(hosts, place, one))))
  if (digests.size === 1 && some.length === chosen.length) return headWith([...digests][0], some[0])
  const names = some.join(', ')
  throw unreadable(`the tags ${names} of ${place.repository} are the same version, and not the same artifact`)
}

const headWith = (digest: string | undefined, tag?: string): RegistryHead | undefined =>
  digest === undefined ? undefined : { digest, ...(tag === undefined ? {} : { tag }) }

async function digestAt(
  hosts: readonly RegistryHost[],
  place: RegistryPlace,
  reference: string,
): Promise<string | undefined> {
  const { status, headers, bytes } = await askRegistry(hosts, place.host, {
    ...place,
    path: `${place.repository}/manifests/${reference}`,
    limit: MAX_MANIFEST_BYTES,
    accept: MANIFEST_TYPES,
  })
  const { host } = place.host
  if (status === 404 || status === 401 || status === 403) return undefined
  if (status !== 200) throw unreadable(`${host} answers with status ${status} when asked for a tag`)
  const declared = headers.get('docker-content-digest')
  const digest = `sha256:${hash('sha256', bytes)}`
  const known = DIGEST.test(reference) ? reference : digest
  if (known !== digest || (declared !== null && DIGEST.test(declared) && declared !== digest))
    throw unreadable(`${host} answers with other content than the digest names`)
  return digest
}

/** What a tar archive adds to an entry: header, padding, and extended headers for long names. */
const OVERHEAD_PER_ENTRY = 8 * 1024
const OVERHEAD = 1024 * 1024

/** source-controller leaves symlinks out, and reads nothing in what stands before entries. */
const LEFT_OUT: readonly string[] = ['directory', 'symlink', 'pax-global-header', 'pax-header']

/**
 * The files of a tar archive with gzip, as source-controller unpacks it (fluxcd/pkg tar/tar.go, without symlinks), within the
 * limits of any tree. Throws `source-unreadable` for what is not such an archive or what Flux refuses in it, `render-limits`
 * for more than the limits, `git-ambiguous` for paths that lead elsewhere or are there twice.
 */
export async function unpackArtifact(
  what: string,
  bytes: Uint8Array,
  limits: TreeLimits = DEFAULT_LIMITS,
): Promise<TreeSnapshot> {
  const files: SnapshotFile[] = []
  let size = 0
  let entries = 0
  const unpack = extract()
  const read = async () => {
    for await (const entry of unpack) {
      // folders and links cost work too
      checkSize(what, ++entries, size, limits)
      const file = fileOf(what, entry.header)
      const chunks: Uint8Array[] = []
      for await (const chunk of entry as AsyncIterable<Uint8Array>) {
        size += chunk.length
        checkSize(what, entries, size, limits)
        if (file) chunks.push(chunk)
      }
      if (file) files.push({ ...file, content: Buffer.concat(chunks) })
    }
  }
  const [unpacked, reading] = await Promise.allSettled([
    pipeline(
      Readable.from([bytes]),
      createGunzip(),
      capped(limits.bytes + limits.files * OVERHEAD_PER_ENTRY + OVERHEAD, what),
      unpack,
    ),
    read(),
  ])
  const failures = [reading, unpacked].flatMap(one => (one.status === 'rejected' ? [one.reason as unknown] : []))
  const ours = failures.find(one => one instanceof BailiwickError)
  if (ours) throw ours
  if (failures.length > 0) {
    const [cause] = failures
    throw new BailiwickError('source-unreadable', `${what} is not a tar archive with gzip, which Flux expects`, {
      cause,
    })
  }
  checkPaths(what, files)
  return packSnapshot(files)
}

function fileOf(what: string, { name, type, size, mode }: Header): Omit<SnapshotFile, 'content'> | undefined {
  if (LEFT_OUT.includes(type ?? '')) return undefined
  if (type !== 'file' && type !== 'contiguous-file') {
    throw new BailiwickError(
      'source-unreadable',
      `${what} holds an entry of the type ${String(type)}, which Flux refuses`,
    )
  }
  const path = name.replace(/^(?:\.\/)+/, '')
  if (path.includes('\\') || path.startsWith('/') || path.includes('../')) {
    const shown = JSON.stringify(path.slice(0, 200))
    throw new BailiwickError('source-unreadable', `${what} holds the path ${shown}, which Flux refuses`)
  }
  checkFileSize(path, size ?? 0)
  return { path, mode: (mode ?? 0) & 0o100 ? '100755' : '100644' }
}
