import { BailiwickError } from '../errors.ts'
import type { Artifact } from '../flux/artifact.ts'
import { at, originAt } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'
import { normaliseUrl } from '../kube/url.ts'
import type { FleetInput, SourceRef } from './input.ts'
import { text } from './read-spec.ts'
import { canonicalRef, refKey } from './ref.ts'

/** What a source object stands for: content, or why there is none. */
export type Resolved = {
  readonly url: string
  readonly ref: SourceRef
  /** Why these files are not all that Flux would put into the artifact: the node that follows it fails. */
  readonly refused?: BailiwickError
} & (
  | { readonly type: 'content'; readonly commit: string; readonly artifact: Artifact; readonly own: boolean }
  | { readonly type: 'opaque'; readonly reason: string }
  | { readonly type: 'wanted' }
)

/** Finds the content of sources in an input; the same content is the same Artifact, so that renderers may cache by it. */
export interface Sources {
  /** The fleet repository itself. */
  readonly own: Resolved & { readonly type: 'content' }
  /** Throws `flux-invalid` for a source object that Flux refuses. */
  resolve(kind: string, source: KubeObject): Resolved
}

/** Sources of one input. */
export function openSources(input: FleetInput): Sources {
  const fleetUrl = normaliseUrl(input.fleet.url)
  const fleetRef = refKey({ branch: input.fleet.branch })
  const artifacts = new Map<string, Artifact>()
  const contents = new Map(input.sources.map(s => [`${normaliseUrl(s.url)} ${refKey(s.ref)}`, s]))
  contents.set(`${fleetUrl} ${fleetRef}`, { ...input.fleet, url: fleetUrl, ref: { branch: input.fleet.branch } })
  const opaque = new Map(input.opaque.map(o => [`${normaliseUrl(o.url)} ${refKey(o.ref)}`, o]))

  const find = (url: string, ref: SourceRef, ignore: string | undefined): Resolved => {
    const key = `${url} ${refKey(ref)}`
    const content = contents.get(key)
    if (!content) {
      const reason = opaque.get(key)?.reason
      return reason === undefined ? { type: 'wanted', url, ref } : { type: 'opaque', url, ref, reason }
    }
    const { tree, commit } = content
    const cacheKey = JSON.stringify([key, ignore ?? null])
    const artifact = artifacts.get(cacheKey) ?? { repository: url, tree, ...(ignore === undefined ? {} : { ignore }) }
    artifacts.set(cacheKey, artifact)
    return { type: 'content', url, ref, commit, artifact, own: key === `${fleetUrl} ${fleetRef}` }
  }
  return {
    own: find(fleetUrl, { branch: input.fleet.branch }, undefined) as Sources['own'],
    resolve(kind, source) {
      if (kind !== 'GitRepository') {
        const url = text(source, ['spec', 'url']) ?? text(source, ['spec', 'endpoint']) ?? ''
        const reason = `the content of a ${kind} is not in git`
        return { type: 'opaque', url: url.slice(0, 500), ref: {}, reason }
      }
      const refused = unsupported(source)
      const url = text(source, ['spec', 'url'])
      if (!url) throw invalid(source, 'url', 'the GitRepository has no spec.url')
      const resolved = find(normaliseUrl(url), readRef(source), text(source, ['spec', 'ignore']))
      // The content is asked for all the same: a change of it is a change of what could not be judged.
      return refused ? { ...resolved, refused } : resolved
    },
  }
}

function readRef(source: KubeObject): SourceRef {
  const fields = ['branch', 'tag', 'semver', 'name', 'commit']
  const entries = fields.flatMap(field => {
    const value = text(source, ['spec', 'ref', field])
    return value ? [[field, value]] : []
  })
  const ref = canonicalRef(Object.fromEntries(entries))
  if (ref.commit && !/^[0-9a-f]{40}$/.test(ref.commit)) {
    throw invalid(source, 'ref', 'spec.ref.commit is not a commit id of 40 hex digits')
  }
  return ref
}

/** What would put other files into the artifact than those of the commit. */
function unsupported(source: KubeObject): BailiwickError | undefined {
  for (const field of ['include', 'sparseCheckout', 'recurseSubmodules']) {
    const value = at(source.root, ['spec', field])
    if (!value || (value.type === 'list' && value.items.length === 0)) continue
    if (value.type === 'scalar' && (value.value === null || value.value === false)) continue
    return new BailiwickError('flux-unsupported', `the source sets spec.${field}, which is not supported`, {
      origin: originAt(source.root, ['spec', field]),
      fix: `Remove spec.${field}.`,
    })
  }
  return undefined
}

function invalid(source: KubeObject, field: string, message: string): BailiwickError {
  return new BailiwickError('flux-invalid', message, {
    origin: originAt(source.root, ['spec', field]),
    fix: `Correct spec.${field}.`,
  })
}
