import { BailiwickError } from '../errors.ts'
import type { Artifact } from '../flux/artifact.ts'
import type { PackBudget } from '../flux/pack-budget.ts'
import { originAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import type { Origin } from '../kube/origin.ts'
import { normaliseUrl } from '../kube/url.ts'
import { composeSource, type Included } from './compose-source.ts'
import type { IncludedSource } from './fleet.ts'
import type { FleetInput, SourceRef } from './input.ts'
import { text } from './read-spec.ts'
import { canonicalRef, refKey } from './ref.ts'
import { contentSpec } from './source-content.ts'

/** What a source object stands for: content, or why there is none. */
export type Resolved = {
  readonly url: string
  readonly ref: SourceRef
  /** The sources whose content is in this one's artifact, too. */
  readonly includes?: readonly IncludedSource[]
  /** Why these files are not all that Flux would put into the artifact: the node that follows it fails. */
  readonly refused?: BailiwickError
} & (
  | { readonly type: 'content'; readonly commit: string; readonly artifact: Artifact; readonly own: boolean }
  | { readonly type: 'opaque'; readonly reason: string }
  | { readonly type: 'wanted' }
)

/** Finds a source object of the cluster by its id; `bootstrap` for the fleet's own; undefined while there is none. */
export type FindSource = (id: string) => KubeObject | 'bootstrap' | undefined

/** Finds the content of sources in an input; the same content is the same Artifact, so that renderers may cache by it. */
export interface Sources {
  /** The fleet repository itself. */
  readonly own: Resolved & { readonly type: 'content' }
  /** What a repository holds at what a source follows, by the normalized address. */
  at(url: string, ref: SourceRef): Resolved
  /**
   * Undefined while a source that this one includes is not known. Throws `flux-invalid` for a source object that Flux
   * refuses, `render-limits` for more work than `budget` has left; what was composed once is composed.
   */
  resolve(kind: string, source: KubeObject, find: FindSource, budget: PackBudget): Resolved | undefined
}

/** Sources of one input. */
export function openSources(input: FleetInput): Sources {
  const fleetUrl = normaliseUrl(input.fleet.url)
  const artifacts = new Map<string, Artifact>()
  const fleet = { ...input.fleet, url: fleetUrl, ref: { branch: input.fleet.branch } }
  const ownKey = `${fleetUrl} ${refKey(fleet.ref)}`
  const contents = new Map([...input.sources, fleet].map(s => [`${normaliseUrl(s.url)} ${refKey(s.ref)}`, s]))
  const unread = new Map(input.opaque.map(o => [`${normaliseUrl(o.url)} ${refKey(o.ref)}`, o.reason]))
  const find = (url: string, ref: SourceRef, ignore?: string): Resolved => {
    const key = `${url} ${refKey(ref)}`
    const content = contents.get(key)
    if (!content) {
      const reason = unread.get(key)
      return reason === undefined ? { type: 'wanted', url, ref } : { type: 'opaque', url, ref, reason }
    }
    const cacheKey = JSON.stringify([key, ignore ?? null])
    const packed = ignore === undefined ? {} : { ignore }
    const artifact = artifacts.get(cacheKey) ?? { repository: url, tree: content.tree, ...packed }
    artifacts.set(cacheKey, artifact)
    return { type: 'content', url, ref, commit: content.commit, artifact, own: key === ownKey }
  }
  const own = find(fleetUrl, fleet.ref) as Sources['own']
  const composed = new Map<KubeObject, { readonly resolved: Resolved; readonly height: number }>()
  const resolve = (source: KubeObject, lookup: FindSource, chain: Chain): Resolved | undefined => {
    const known = composed.get(source)
    if (known && chain.ids.length - 1 + known.height <= MAX_CHAIN) return known.resolved
    const url = text(source, ['spec', 'url'])
    if (!url) throw invalid(source, 'url', 'the GitRepository has no spec.url')
    const spec = contentSpec(source)
    const base = find(normaliseUrl(url), sourceRefOf(source), text(source, ['spec', 'ignore']))
    if (base.type !== 'content') return base
    const { namespace } = idOf(source)
    let height = 0
    const included = spec.include.map(include => {
      const id = `GitRepository/${namespace}/${include.name}`
      if (chain.ids.includes(id) || chain.ids.length > MAX_CHAIN) throw circular(id, include.origin)
      const other = lookup(id)
      if (other === undefined || other === 'bootstrap') return { id, spec: include, resolved: other && own }
      const resolved = resolve(other, lookup, { ...chain, ids: [...chain.ids, id] })
      height = Math.max(height, 1 + (composed.get(other)?.height ?? 0))
      return { id, spec: include, resolved }
    })
    if (!included.every(isKnown)) return undefined
    const resolved = composeSource(base, spec, included, chain.budget)
    composed.set(source, { resolved, height: spec.include.length > 0 ? Math.max(1, height) : 0 })
    return resolved
  }
  return {
    own,
    at: find,
    resolve(kind, source, lookup, budget) {
      if (kind === 'GitRepository') {
        const { namespace, name } = idOf(source)
        return resolve(source, lookup, { ids: [`GitRepository/${namespace}/${name}`], budget })
      }
      const url = text(source, ['spec', 'url']) ?? text(source, ['spec', 'endpoint']) ?? ''
      const reason = `the content of a ${kind} is not in git`
      return { type: 'opaque', url: url.slice(0, 500), ref: {}, reason }
    },
  }
}

/** Sources that include each other. */
const MAX_CHAIN = 5

/** The sources that led to one by including it, and what packing all of it may use up. */
interface Chain {
  readonly ids: readonly string[]
  readonly budget: PackBudget
}

const isKnown = (one: Omit<Included, 'resolved'> & { readonly resolved: Resolved | undefined }): one is Included =>
  one.resolved !== undefined

function circular(id: string, origin: Origin): BailiwickError {
  const message = `spec.include leads to ${id} again, or too deep: source-controller would wait forever`
  return new BailiwickError('flux-invalid', message, { origin, fix: 'Include it in one place only.' })
}

/** What a GitRepository follows. Throws `flux-invalid` for a commit that is not an id. */
export function sourceRefOf(source: KubeObject): SourceRef {
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

function invalid(source: KubeObject, field: string, message: string): BailiwickError {
  return new BailiwickError('flux-invalid', message, {
    origin: originAt(source.root, ['spec', field]),
    fix: `Correct spec.${field}.`,
  })
}
