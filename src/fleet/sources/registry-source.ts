import { BailiwickError } from '../../errors.ts'
import { at, originAt, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { checkPattern } from '../../kustomize/select/pattern.ts'
import { ociReference } from '../artifacts/oci-reference.ts'
import type { RegistryRef } from '../model/source-ref.ts'
import { readRange } from './version-range.ts'

/** Where an OCIRepository leads, or why what it follows cannot be asked for. */
type RegistrySource = { readonly url: string; readonly ref: RegistryRef } | { readonly reason: string }

const DIGEST = /^sha256:[0-9a-f]{64}$/
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/

/**
 * What an OCIRepository follows in a registry that may be asked (`hosts`, exactly as they are written); undefined where it is
 * in another one. As source-controller reads `spec.ref`: a digest before a version range before a tag, none is `latest`.
 */
export function registrySource(source: KubeObject, hosts: readonly string[]): RegistrySource | undefined {
  const spec = (...path: string[]) => stringAt(source.root, ['spec', ...path])
  const url = spec('url') ?? ''
  const address = url.startsWith('oci://') ? ociReference(url) : undefined
  if (!address || !hosts.includes(address.repository.split('/')[0]!)) return undefined
  if (address.tag !== undefined) return { reason: 'spec.url has a tag, which Flux takes for a part of the name' }
  const layer = layerOf(source)
  if ('reason' in layer) return layer
  const followed = followedOf(source, address.repository)
  if ('reason' in followed) return followed
  return { url: `oci://${address.repository}`, ref: { ...followed, ...layer } }
}

function followedOf(source: KubeObject, repository: string): RegistryRef | { readonly reason: string } {
  const spec = (field: string) => stringAt(source.root, ['spec', 'ref', field])
  const digest = spec('digest')
  if (digest) return DIGEST.test(digest) ? { digest } : { reason: 'spec.ref.digest is not a sha256 digest' }
  const semver = spec('semver')
  if (semver === '' || at(source.root, ['spec', 'ref', 'semver']) === undefined) {
    const tag = spec('tag') ?? 'latest'
    return ociReference(`${repository}:${tag}`)?.tag === undefined ? { reason: 'spec.ref.tag is not a tag' } : { tag }
  }
  if (semver === undefined || !readRange(semver)) return { reason: 'spec.ref.semver is not a range of versions' }
  const semverFilter = spec('semverFilter')
  if (!semverFilter) return { semver }
  try {
    checkPattern({ text: semverFilter, origin: originAt(source.root, ['spec', 'ref', 'semverFilter']) })
    return { semver, semverFilter }
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return { reason: `spec.ref.semverFilter: ${error.message}` }
  }
}

function layerOf(source: KubeObject): Pick<RegistryRef, 'layer' | 'copied'> | { readonly reason: string } {
  const selector = at(source.root, ['spec', 'layerSelector'])
  if (selector === undefined) return {}
  const layer = stringAt(selector, ['mediaType'])
  const operation = stringAt(selector, ['operation']) ?? 'extract'
  if (operation !== 'extract' && operation !== 'copy')
    return { reason: 'spec.layerSelector.operation is neither extract nor copy' }
  if (layer !== undefined && !MEDIA_TYPE.test(layer))
    return { reason: 'spec.layerSelector.mediaType is not a media type' }
  return { ...(layer === undefined ? {} : { layer }), ...(operation === 'copy' ? { copied: true } : {}) }
}
