import { at, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { ociReference } from '../artifacts/oci-reference.ts'
import type { RegistryRef } from '../model/source-ref.ts'

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
  if (layer.reason !== undefined) return { reason: layer.reason }
  const digest = spec('ref', 'digest')
  if (digest === undefined && at(source.root, ['spec', 'ref', 'semver']) !== undefined) {
    return { reason: 'spec.ref.semver is not followed yet' }
  }
  if (digest !== undefined && !DIGEST.test(digest)) return { reason: 'spec.ref.digest is not a sha256 digest' }
  const tag = spec('ref', 'tag') ?? 'latest'
  if (digest === undefined && ociReference(`${address.repository}:${tag}`)?.tag === undefined) {
    return { reason: 'spec.ref.tag is not a tag' }
  }
  const followed = digest === undefined ? { tag } : { digest }
  return {
    url: `oci://${address.repository}`,
    ref: { ...followed, ...(layer.mediaType === undefined ? {} : { layer: layer.mediaType }) },
  }
}

function layerOf(source: KubeObject): { readonly mediaType?: string; readonly reason?: string } {
  const selector = at(source.root, ['spec', 'layerSelector'])
  if (selector === undefined) return {}
  const mediaType = stringAt(selector, ['mediaType'])
  // copied as it is: nothing is left out of it, which packing would do
  if ((stringAt(selector, ['operation']) ?? 'extract') !== 'extract')
    return { reason: 'spec.layerSelector.operation is not followed yet' }
  if (mediaType !== undefined && !MEDIA_TYPE.test(mediaType))
    return { reason: 'spec.layerSelector.mediaType is not a media type' }
  return mediaType === undefined ? {} : { mediaType }
}
