import { BailiwickError } from '../../base/errors.ts'
import { checkPattern } from '../../expr/regexp/pattern.ts'
import { type Artifact, COPIED, pushedTree } from '../../flux/artifact.ts'
import { fluxKind, sourceNamed } from '../../kube/flux-kinds.ts'
import { at, canonical, originAt, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { type Aliases, addressIn, DEFAULT_CONFIG, type FleetConfig } from '../model/fleet-config.ts'
import { type FleetInput, revisionOf } from '../model/input.ts'
import { text, throwMisspelled } from '../model/kustomization-spec.ts'
import { NOT_READABLE } from '../model/source-access.ts'
import { canonicalRef, ociReference, type RegistryRef, refKey, type SourceRef } from '../model/source-ref.ts'
import { type ArtifactContent, artifactContent, pushingFiles, trustOf } from './artifact-content.ts'
import { composeSource, contentSpec } from './compose-source.ts'
import type { MayRead, ReadDecision, Resolved, Sources } from './sources.ts'
import { readRange } from './version-range.ts'

/** Sources of one input; `file`: what the fleet's own file says of addresses. `refuted`: see refutedArtifacts. */
export function openSources(
  input: FleetInput,
  { aliases, artifacts: declared }: Pick<FleetConfig, 'aliases' | 'artifacts'> = DEFAULT_CONFIG,
  refuted: ReadonlyMap<string, string> = new Map(),
): Sources {
  const fleetUrl = addressIn(aliases, input.fleet.url)
  const find = contentOf(input, fleetUrl, aliases)
  const READ = { state: 'read', lent: false } as const
  const own = find(fleetUrl, { branch: input.fleet.branch }, undefined, READ) as Sources['own']
  const ownFor = (may: MayRead) => find(fleetUrl, own.ref, undefined, may.ask('bootstrap', fleetUrl))
  const composedFor = new Map<string, Map<KubeObject, Resolved>>()
  const facts = { url: fleetUrl, branch: input.fleet.branch, tree: input.fleet.tree, declared, refuted }
  const ofArtifact = artifactsOf(find)
  const ofOther = otherArtifacts(find, aliases, ofArtifact, facts)
  const inRegistry = registryArtifacts(find, input)
  const resolveOther = notInGitSources({ facts, own, ofArtifact, ofOther, inRegistry })
  const resolve = (source: KubeObject, may: MayRead): Resolved => {
    const composed = composedFor.get(may.reader) ?? new Map<KubeObject, Resolved>()
    composedFor.set(may.reader, composed)
    const known = composed.get(source)
    if (known) return known
    const url = text(source, ['spec', 'url'])
    if (!url) throw invalid(source, 'url', 'GitRepository: spec.url is missing')
    const spec = contentSpec(source)
    const address = addressIn(aliases, url)
    const base = find(address, sourceRefOf(source), text(source, ['spec', 'ignore']), may.ask(source, address))
    if (base.type !== 'content') return base
    const resolved = composeSource(base, spec)
    composed.set(source, resolved)
    return resolved
  }
  return {
    own,
    at: (url, ref, read) => find(url, ref, undefined, read),
    resolve(kind, source, may, author) {
      if (source === 'bootstrap') return ownFor(may)
      if (fluxKind(sourceNamed(kind))?.source === 'git') return { ...resolve(source, may), ...verifyOf(source) }
      return resolveOther(kind, source, may, author)
    },
  }
}

interface Artifacts {
  readonly facts: Parameters<typeof artifactContent>[1]
  readonly own: Resolved
  readonly ofArtifact: ReturnType<typeof artifactsOf>
  readonly ofOther: ReturnType<typeof otherArtifacts>
  readonly inRegistry: ReturnType<typeof registryArtifacts>
}

/** What the other kinds of sources stand for. */
const notInGitSources =
  ({ facts, own, ofArtifact, ofOther, inRegistry }: Artifacts) =>
  (kind: string, source: KubeObject, may: MayRead, author: string | null | undefined): Resolved => {
    const isArtifact = kind === 'OCIRepository'
    const found = isArtifact ? artifactContent(source, facts, typeof author !== 'string') : undefined
    if (found?.type === 'content') return ofArtifact(source, found, own, may)
    // a cluster starts with nothing but this repository at its branch
    if (found?.type === 'elsewhere' && author !== null) return ofOther(source, found, may)
    // nor is it followed to a registry: what starts a cluster is known from git, or not at all
    const there = isArtifact && author !== null ? inRegistry(source, may) : undefined
    if (typeof there === 'object') return there
    const url = text(source, ['spec', 'url']) ?? text(source, ['spec', 'endpoint']) ?? ''
    const reason = there ?? ((found?.type === 'unknown' && found.reason) || notInGit(kind))
    return { type: 'opaque', url: url.slice(0, 500), ref: {}, reason, ...verifyOf(source) }
  }

const notInGit = (kind: string) => `the content of ${kind === 'OCIRepository' ? 'an' : 'a'} ${kind} is not in git`

/** What an artifact holds that a workflow of another repository signs, which is read there. */
const otherArtifacts =
  (find: FindContent, aliases: Aliases, ofArtifact: ReturnType<typeof artifactsOf>, facts: Artifacts['facts']) =>
  (source: KubeObject, signed: ArtifactContent & { type: 'elsewhere' }, may: MayRead): Resolved => {
    const address = addressIn(aliases, signed.url)
    const there = find(address, { branch: signed.branch }, undefined, may.ask(source, address))
    if (there.type !== 'content') return { ...there, ...verifyOf(source) }
    const { url, branch } = signed
    const content = artifactContent(source, { ...facts, url, branch, tree: there.artifact.tree }, true)
    if (content.type === 'content') return ofArtifact(source, content, there, may)
    const reason = content.type === 'unknown' ? content.reason : ''
    return { type: 'opaque', url: there.url, ref: there.ref, reason, ...verifyOf(source) }
  }

/** What artifacts hold that are made of folders of repositories; the same for the same part of one. */
function artifactsOf(find: FindContent) {
  const pushed = new Map<string, Artifact>()
  return (
    source: KubeObject,
    found: ArtifactContent & { type: 'content' },
    { url, ref }: Pick<Resolved, 'url' | 'ref'>,
    may: MayRead,
  ): Resolved => {
    const { type: _type, workflow, ...held } = found
    const { folder } = held
    const base = find(url, ref, text(source, ['spec', 'ignore']), may.ask(source, url))
    if (base.type !== 'content') return base
    const key = JSON.stringify([url, ref, folder, base.artifact.ignore ?? null])
    const artifact = pushed.get(key) ?? {
      ...base.artifact,
      tree: pushedTree(base.artifact.tree, folder),
      composed: true as const,
      ...(folder === '' ? {} : { root: folder }),
    }
    pushed.set(key, artifact)
    const pushedBy = pushingFiles(base.artifact.tree, workflow)
    return { ...base, artifact, artifactOf: { ...held, trust: trustOf(source), pushedBy } }
  }
}

/**
 * Content of artifacts in registries that may be asked, or why it is not asked for; undefined where the registry may not be.
 * It is not a repository, so it gates no pull requests.
 */
const registryArtifacts =
  (find: FindContent, { registries = [] }: FleetInput) =>
  (source: KubeObject, may: MayRead): Resolved | string | undefined => {
    const followed = registrySource(source, registries)
    if (!followed || 'reason' in followed) return followed?.reason
    const { url, ref } = followed
    const registry = may.asOperator(source, url) ? ref : { ...ref, anonymous: true as const }
    const ignore = ref.copied ? COPIED : text(source, ['spec', 'ignore'])
    const resolved = find(url, { registry }, ignore, { state: 'read', lent: true })
    return { ...resolved, ...verifyOf(source) }
  }

function verifyOf({ root }: KubeObject): { readonly verify?: string } {
  const verify = at(root, ['spec', 'verify'])
  return verify === undefined ? {} : { verify: canonical(verify) }
}

type FindContent = (url: string, ref: SourceRef, ignore: string | undefined, read: ReadDecision) => Resolved

/** What an input has of a repository, for permitted readers: the only place where content is taken out of it. */
function contentOf(input: FleetInput, fleetUrl: string, aliases: Aliases): FindContent {
  const fleetRef = refKey({ branch: input.fleet.branch })
  const artifacts = new Map<string, Artifact>()
  const contents = new Map(input.sources.map(s => [`${addressIn(aliases, s.url)} ${refKey(s.ref)}`, s]))
  contents.set(`${fleetUrl} ${fleetRef}`, { ...input.fleet, url: fleetUrl, ref: { branch: input.fleet.branch } })
  const opaque = new Map(input.opaque.map(o => [`${addressIn(aliases, o.url)} ${refKey(o.ref)}`, o]))

  return (url, ref, ignore, read) => {
    const lent = read.state !== 'ask' && read.lent ? { lent: true as const } : {}
    if (read.state === 'refused') return { type: 'opaque', url, ref, reason: NOT_READABLE, ...lent }
    if (read.state === 'ask') return { type: 'wanted', url, ref, asks: read }
    const key = `${url} ${refKey(ref)}`
    const content = contents.get(key)
    if (!content) {
      const reason = opaque.get(key)?.reason
      if (reason === undefined) return { type: 'wanted', url, ref, ...lent }
      return { type: 'opaque', url, ref, reason, ...lent }
    }
    const { tree } = content
    const cacheKey = JSON.stringify([key, ignore ?? null])
    const artifact = artifacts.get(cacheKey) ?? { repository: url, tree, ...(ignore === undefined ? {} : { ignore }) }
    artifacts.set(cacheKey, artifact)
    const own = key === `${fleetUrl} ${fleetRef}`
    return { type: 'content', url, ref, ...revisionOf(content), artifact, own, ...lent }
  }
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
    throw invalid(source, 'ref', 'spec.ref.commit: not a commit id. Allowed: 40 hex digits')
  }
  return ref
}

/** Throws where the field is missing and another key was probably meant to be it. */
function invalid(source: KubeObject, field: string, message: string): BailiwickError {
  throwMisspelled(source, ['spec', field])
  return new BailiwickError('flux-invalid', message, {
    origin: originAt(source.root, ['spec', field]),
    fix: `Correct spec.${field}.`,
  })
}

/** Where an OCIRepository leads, or why what it follows cannot be asked for. */
type RegistrySource = { readonly url: string; readonly ref: RegistryRef } | { readonly reason: string }

const DIGEST = /^sha256:[0-9a-f]{64}$/
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/

/**
 * What an OCIRepository follows in a registry that may be asked (`hosts`, exactly as they are written); undefined where it is
 * in another one. As source-controller reads `spec.ref`: a digest before a version range before a tag, none is `latest`.
 */
function registrySource(source: KubeObject, hosts: readonly string[]): RegistrySource | undefined {
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
