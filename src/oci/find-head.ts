import { hash } from 'node:crypto'
import type { RegistryRef } from '../fleet/model/source-ref.ts'
import { chooseTags } from '../fleet/sources/choose-tags.ts'
import { askRegistry, unreadable } from './ask-registry.ts'
import { listTags, type RegistryPlace } from './list-tags.ts'
import type { RegistryHost } from './registry-hosts.ts'

/** What a tag may stand for: one image, or an index of images. */
export const MANIFEST_TYPES: readonly string[] = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
]
export const MAX_MANIFEST_BYTES = 4 * 1024 * 1024
/** Tags that may be spellings of one version: `1.0.0`, `v1.0.0`. */
const MAX_EQUAL = 4
const DIGEST = /^sha256:[0-9a-f]{64}$/

/** What a ref stands for now. */
export interface RegistryHead {
  /** `sha256:<hex>`. */
  readonly digest: string
  /** Of a range of versions: its latest tag. */
  readonly tag?: string
}

/** What a ref stands for now; see Registry.headOf. */
export async function findHead(
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
