import { BailiwickError } from '../../base/errors.ts'
import { message, part } from '../../base/message.ts'
import { isRoot } from '../../flux/references.ts'
import { PLATFORM_SCALE, RenderBudget } from '../../flux/render-kustomization.ts'
import { renderWithHoles } from '../../flux/render-with-holes.ts'
import type { Tree } from '../../git/tree.ts'
import { ACCOUNT_FIELD, GIT_REPOSITORY, ROOT_NAMESPACE, SOURCE_GROUP, sourceNamed } from '../../kube/flux-kinds.ts'
import { at, canonical, originAt, stringAt, withField } from '../../kube/node.ts'
import { groupOf, type Hole, idOf, type KubeObject } from '../../kube/object.ts'
import { installedFlux, installedSync, isFluxInstance } from '../bootstrap/flux-instance.ts'
import { isStrictByDefault, OPEN, readLockdown } from '../bootstrap/lockdown.ts'
import { probeBootstrap } from '../bootstrap/sync-roots.ts'
import type { ClusterRoot, Lockdown } from '../model/fleet.ts'
import { bootstrapKustomization } from '../model/kustomization-spec.ts'
import { refKey, type SourceRef } from '../model/source-ref.ts'
import type { RenderMemory } from '../rendering/render-memory.ts'
import type { MayRead, Resolved, Sources } from '../sources/sources.ts'
import { findValues, type ValueIndex, withPlain } from './node-values.ts'

/** The Kustomization that a cluster starts from, settled: it renders itself as it is. */
export interface Root {
  /** What it starts to follow, where that is known. */
  readonly source?: KubeObject
  readonly kustomization: KubeObject
  readonly resolved: Resolved
  readonly objects: readonly KubeObject[]
  readonly holes: readonly Hole[]
  readonly lockdown: Lockdown
  /** With holes: what the build without them stopped at. */
  readonly error?: BailiwickError
}

export const HOPS = 4

/**
 * Opens the root of a cluster. Its spec is what it renders itself, its source what that spec follows; both are followed
 * until they stay the same. A root that cannot be settled carries the error; nothing is thrown. One whose source is not
 * visible here has no objects, and no error: it is listed, and a change that makes it so needs an approval.
 */
export function openRoot(
  root: ClusterRoot,
  sources: Sources,
  values: ValueIndex,
  may: MayRead,
  memory?: RenderMemory,
): Root {
  const { name, path } = root
  let kustomization = startOf(root, sources)
  let resolved: Resolved = sources.own
  let objects: readonly KubeObject[] = []
  let holes: readonly Hole[] = []
  let strict = true
  let elsewhere: Resolved | undefined
  const refs = new Map<string, SourceRef>()
  try {
    if (kustomization === root.kustomization) resolved = firstSource(root, sources, may)
    // what is written names another repository; what the folder renders of it, by patches and variables, is what counts
    if (resolved.unmatched) [elsewhere, resolved] = [resolved, sources.own]
    for (let hop = 0; hop < HOPS; hop++) {
      if (resolved.type !== 'content') return unseen(kustomization, resolved)
      refs.set(refKey(resolved.ref), resolved.ref)
      const findSource = findValues(kustomization, values, undefined)
      const read = values.readFor(kustomization)
      const artifact = withPlain(resolved.artifact, read?.files)
      const budget = new RenderBudget(PLATFORM_SCALE)
      const holeBudget = new RenderBudget(PLATFORM_SCALE)
      const facts = { findSource, opened: read?.sealed, strict, budget, holeBudget }
      const rendered = renderWithHoles(artifact, kustomization, facts, memory?.render(`${name} ${hop}`))
      objects = rendered.objects
      holes = rendered.holes
      const failed = rendered.error ? { error: rendered.error } : {}
      const seen: readonly KubeObject[] = withSync(objects, root, kustomization)
      strict = readLockdown(seen)?.strictSubstitution ?? true
      const self = seen.find(object => isRoot(object, kustomization))
      if (elsewhere && self?.root.origin.file !== root.kustomization?.root.origin.file)
        return unseen(kustomization, elsewhere)
      if (!self) {
        const shown = probed(path, kustomization, resolved, objects, memory?.render(`${name} probe`))
        return { ...shown, holes, ...failed, ...declared(root) }
      }
      const source = resolveRoot(self, seen, sources, may)
      // a build that fails applies nothing: of its many roots, none takes the place of this one
      const isKept = rendered.error && pathOf(self) !== pathOf(kustomization)
      const settled = canonical(self.root) === canonical(kustomization.root) && sameContent(source, resolved)
      if (!isKept) [kustomization, resolved] = [self, source]
      if (isKept || settled) {
        const lockdown = readLockdown(seen) ?? OPEN
        return { kustomization, resolved, objects, holes, lockdown, ...failed, ...declared(root) }
      }
    }
    throw neverSettled(kustomization, refs, sources.own.ref)
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    if (elsewhere) return unseen(kustomization, elsewhere)
    return { kustomization, resolved, objects: [], holes: [], lockdown: OPEN, error }
  }
}

const pathOf = ({ root }: KubeObject) => stringAt(root, ['spec', 'path'])

const unseen = (kustomization: KubeObject, resolved: Resolved): Root => ({
  ...{ kustomization, resolved, objects: [], holes: [], lockdown: OPEN },
})

/** Where this revision leads to another, and that back to it, Flux would go to and fro between them. */
function neverSettled({ root: { origin } }: KubeObject, refs: ReadonlyMap<string, SourceRef>, own: SourceRef) {
  const text = message`Kustomization flux-system: each reconciliation renders another version of it`
  const other = [...refs].find(([key]) => key !== refKey(own))?.[1]
  if (!other) {
    const fix = 'Remove the patch that changes this Kustomization in its own output.'
    return new BailiwickError('graph-limits', text, { origin, fix })
  }
  const name = part('branch', Object.values(other)[0] ?? '')
  const fix = message`Make the same change on ${name} first, so that the source there also follows ${name}.`
  return new BailiwickError('graph-limits', message`${text}. The content of ${name} switches the source back`, {
    origin,
    fix,
  })
}

/**
 * What a cluster gets, with what its FluxInstance makes: the one that it renders itself, or else the one by which it was
 * found, whose chart or operator another Kustomization of it deploys.
 */
function withSync(
  objects: readonly KubeObject[],
  { instance }: ClusterRoot,
  current: KubeObject,
): readonly KubeObject[] {
  if (objects.some(object => isRoot(object, current))) return objects
  const rendered = objects.find(isFluxInstance)
  const flux = rendered ?? instance
  const { kustomization, source } = flux ? installedSync(flux) : {}
  if (!flux || !kustomization || !source) return objects
  return [...objects, ...(rendered ? [] : [flux]), source, kustomization]
}

/** The source that the cluster starts with, which other Kustomizations of it follow whether or not it is rendered. */
const declared = ({ source }: ClusterRoot) => (source ? { source } : {})

/** What the cluster starts with: what the repository holds of it, where that is all of it, or what bootstrap writes. */
function startOf({ path, kustomization }: ClusterRoot, sources: Sources): KubeObject {
  const { repository, tree } = sources.own.artifact
  if (!kustomization) return bootstrapKustomization(path, repository, tree)
  const { namespace, name } = idOf(kustomization)
  const isWhole = namespace !== '' && name !== '' && stringAt(kustomization.root, ['spec', 'sourceRef', 'name'])
  return isWhole ? kustomization : bootstrapKustomization(path, repository, tree)
}

/** What the first source of a cluster holds, where that is this repository. */
function firstSource({ kustomization, source }: ClusterRoot, sources: Sources, may: MayRead): Resolved {
  if (!kustomization || !source || sources.own.url === '') return sources.own
  const kind = stringAt(kustomization.root, ['spec', 'sourceRef', 'kind']) ?? ''
  const resolved = sources.resolve(kind, source, may, null)
  return resolved.url === sources.own.url ? resolved : anotherSource(kind, source, resolved, sources)
}

/** `<Kind>/<namespace>/<name>` of a source object. */
export function sourceIdOf(source: KubeObject): string {
  const { kind, namespace, name } = idOf(source)
  return `${kind}/${namespace}/${name}`
}

/** A fleet that holds no bootstrap objects: its overlay still says what it does to them. */
function probed(
  path: string,
  synthetic: KubeObject,
  resolved: Resolved & { type: 'content' },
  objects: readonly KubeObject[],
  render: ReturnType<RenderMemory['render']> | undefined,
): Omit<Root, 'holes' | 'error' | 'source'> {
  const probe = probeBootstrap(path, synthetic, resolved.artifact, render)
  const installed = probe ?? installedFlux(objects)?.objects
  const kustomization = withAccount(
    synthetic,
    installed?.find(object => isRoot(object, synthetic)),
  )
  const shown = readLockdown(objects) ?? readLockdown([...(probe ?? []), ...objects], 'patches')
  return { kustomization, resolved, objects, lockdown: shown ?? leftOut(path, resolved.artifact.tree) }
}

/**
 * Components of bootstrap that the root's own kustomization.yaml leaves out: Flux runs in the version that they name. No
 * flag of theirs counts, because nothing applies what changes in them.
 */
function leftOut(path: string, tree: Tree): Lockdown {
  const file = `${path === '' ? '' : `${path}/`}flux-system/gotk-components.yaml`
  const text = tree.entry(file)?.type === 'file' ? new TextDecoder().decode(tree.read(file)) : ''
  const [, version] = /^# Flux Version: (\S+)$/m.exec(text) ?? []
  return isStrictByDefault(version) ? OPEN : { ...OPEN, strictSubstitution: false }
}

/** The probe's own lines are nowhere in the repository; only what the overlay's patches wrote is worth keeping. */
function withAccount(synthetic: KubeObject, probe: KubeObject | undefined): KubeObject {
  const spec = at(synthetic.root, ['spec'])
  const account = at(probe?.root, ACCOUNT_FIELD)
  if (spec?.type !== 'map' || !account) return synthetic
  return { ...synthetic, root: withField(synthetic.root, 'spec', withField(spec, 'serviceAccountName', account)) }
}

function resolveRoot(self: KubeObject, objects: readonly KubeObject[], sources: Sources, may: MayRead): Resolved {
  const kind = stringAt(self.root, ['spec', 'sourceRef', 'kind'])
  const name = stringAt(self.root, ['spec', 'sourceRef', 'name'])
  const namespace = stringAt(self.root, ['spec', 'sourceRef', 'namespace']) || ROOT_NAMESPACE
  const source = objects.find(object => {
    const id = idOf(object)
    const isNamed = id.kind === kind && id.namespace === namespace && id.name === name
    return isNamed && groupOf(id.apiVersion) === SOURCE_GROUP
  })
  if (!source || sources.own.url === '') return sources.own
  const resolved = sources.resolve(kind ?? '', source, may, null)
  if (resolved.refused) throw resolved.refused
  return resolved.url === sources.own.url ? resolved : anotherSource(kind ?? '', source, resolved, sources)
}

/** What a cluster follows that is not in this repository. */
function anotherSource(kind: string, source: KubeObject, resolved: Resolved, { own }: Sources): Resolved {
  const reason =
    resolved.type === 'opaque' && sourceNamed(kind) !== GIT_REPOSITORY
      ? resolved.reason
      : `this repository is ${own.url}; if both are the same repository, list the other address under aliases in .github/bailiwick.yaml`
  const unmatched = { why: 'other-address', origin: originAt(source.root, ['spec', 'url']) } as const
  const { url, ref, verify } = resolved
  return { type: 'opaque', url, ref, reason, unmatched, ...(verify ? { verify } : {}) }
}

function sameContent(a: Resolved, b: Resolved): boolean {
  if (a.type !== 'content' || b.type !== 'content') return false
  return a.artifact === b.artifact || (a.artifact.tree === b.artifact.tree && a.artifact.ignore === b.artifact.ignore)
}
