import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { type Artifact, packTree } from '../../flux/artifact.ts'
import type { PackBudget } from '../../flux/source-ignore.ts'
import { includeTree, sparseTree } from '../../flux/source-trees.ts'
import type { Tree } from '../../git/tree.ts'
import { EXTENSIONS_GROUP, GIT_REPOSITORY, sourceNamed } from '../../kube/flux-kinds.ts'
import { at, itemsOf, type Node, originAt, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { Entry } from '../../kustomize/entry.ts'
import { text } from '../model/kustomization-spec.ts'
import type { Resolved } from './sources.ts'

/** What `spec.include` names, resolved. */
export interface Included {
  readonly id: string
  readonly spec: IncludeSpec
  readonly resolved: Resolved
}

type Content = Resolved & { readonly type: 'content' }

/** Files of one artifact with all that it includes: includes of includes could double it again and again. */
const MAX_FILES = 50_000

/**
 * A source with its sparse checkout done and what it includes in its place; where that could not be read, the reason of
 * the first that stands in the way. Throws `flux-invalid` for includes that source-controller refuses, `render-limits`.
 */
export function composeSource(
  base: Content,
  spec: ContentSpec,
  included: readonly Included[],
  budget: PackBudget,
): Resolved {
  const includes = included.flatMap(({ id, resolved }) => [
    {
      ...{ id, url: resolved.url, ref: resolved.ref, commit: resolved.type === 'content' ? resolved.commit : '' },
      ...(resolved.lent ? { lent: true as const } : {}),
      ...(resolved.verify ? { verify: resolved.verify } : {}),
    },
    ...(resolved.includes ?? []),
  ])
  for (const { id, resolved } of included) {
    if (resolved.type === 'wanted') return resolved
    if (resolved.type === 'content' && !resolved.refused) continue
    const why = resolved.type === 'opaque' ? resolved.reason : resolved.refused!.message
    return { ...placeOf(base), type: 'opaque', reason: `it includes ${id}: ${why}`, includes }
  }
  const refused = spec.submodules && withoutSubmodules(base.artifact.tree, spec.submodules)
  if (refused) return { ...base, refused }
  let tree = spec.sparse ? sparseTree(base.artifact.tree, spec.sparse) : base.artifact.tree
  let files = included.length > 0 ? countFiles(tree) : 0
  for (const { spec: include, resolved } of included) {
    const { tree: content, ignore, repository } = (resolved as Content).artifact
    const packed = packTree(content, ignore, budget)
    files += countFiles(packed)
    if (files > MAX_FILES) {
      const message = `spec.include: the source and its includes have more than ${MAX_FILES} files`
      throw new BailiwickError('render-limits', message, { origin: include.origin, fix: 'Include fewer files.' })
    }
    tree = includeTree(tree, { ...include, content: packed, repository })
  }
  if (tree === base.artifact.tree) return base
  const artifact: Artifact = { ...base.artifact, tree, composed: true }
  return { ...base, artifact, ...(includes.length > 0 ? { includes } : {}) }
}

const placeOf = ({ url, ref, lent }: Content) => ({ url, ref, ...(lent ? { lent } : {}) })

function* entriesOf(tree: Tree): Generator<string> {
  const queue = ['']
  for (let directory = queue.pop(); directory !== undefined; directory = queue.pop()) {
    for (const { path, type } of tree.list(directory)) {
      yield type
      if (type === 'directory') queue.push(path)
    }
  }
}

function countFiles(tree: Tree): number {
  let count = 0
  for (const _type of entriesOf(tree)) if (++count > MAX_FILES) return count
  return count
}

/** Without submodules in the tree there is nothing to recurse into. */
function withoutSubmodules(tree: Tree, origin: Origin): BailiwickError | undefined {
  for (const type of entriesOf(tree)) {
    if (type !== 'submodule') continue
    const message = 'spec.recurseSubmodules: not supported. Bailiwick does not read submodules'
    const fix = 'Include the other repository with spec.include instead.'
    return new BailiwickError('flux-unsupported', message, { origin, fix })
  }
  return undefined
}

/** One entry of `spec.include` of a GitRepository. */
interface IncludeSpec {
  readonly origin: Origin
  /** Name of the GitRepository in the same namespace. */
  readonly name: string
  readonly fromPath: string
  readonly toPath: string
}

/** What a GitRepository asks of its content beside an address and a ref. */
interface ContentSpec {
  readonly include: readonly IncludeSpec[]
  /** Undefined: all of it. */
  readonly sparse: readonly Entry[] | undefined
  readonly submodules: Origin | undefined
}

const MAX_INCLUDES = 20

/** Reads `include`, `sparseCheckout` and `recurseSubmodules`. Throws `flux-invalid` for what the API server refuses. */
export function contentSpec(source: KubeObject): ContentSpec {
  const submodules = at(source.root, ['spec', 'recurseSubmodules'])
  const recurses = submodules?.type === 'scalar' && submodules.value === true
  return {
    include: items(source, 'include').map(index => {
      const path = ['spec', 'include', index]
      const name = text(source, [...path, 'repository', 'name'])
      if (!name) throw wrong(source, [...path, 'repository'], 'spec.include: an entry has no repository.name')
      const fromPath = text(source, [...path, 'fromPath']) ?? ''
      const toPath = text(source, [...path, 'toPath']) || name
      return { origin: originAt(source.root, [...path, 'repository', 'name']), name, fromPath, toPath }
    }),
    sparse: readSparse(source),
    submodules: recurses ? submodules.origin : undefined,
  }
}

function readSparse(source: KubeObject): Entry[] | undefined {
  const indices = items(source, 'sparseCheckout')
  if (indices.length === 0) return undefined
  return indices.map(index => {
    const path = ['spec', 'sparseCheckout', index]
    return { text: text(source, path) ?? '', origin: originAt(source.root, path) }
  })
}

function items(source: KubeObject, field: string): number[] {
  const list = at(source.root, ['spec', field])
  if (list === undefined || (list.type === 'scalar' && list.value === null)) return []
  if (list.type !== 'list') throw wrong(source, ['spec', field], `spec.${field}: not a list`)
  if (field === 'include' && list.items.length > MAX_INCLUDES) {
    throw wrong(source, ['spec', field], `spec.include: more than ${MAX_INCLUDES} entries`)
  }
  return [...list.items.keys()]
}

function wrong(source: KubeObject, path: readonly (string | number)[], message: string): BailiwickError {
  return new BailiwickError('flux-invalid', message, { origin: originAt(source.root, path), fix: 'Correct the field.' })
}

/** A copy of a directory, or of all that is in it, into a generated artifact. */
export interface GeneratedCopy {
  /** `GitRepository/<namespace>/<name>`. */
  readonly source: string
  readonly from: string
  /** All that is in `from`, and not `from` itself. */
  readonly isContent: boolean
  readonly to: string
  /** `to` is a directory even for a file. */
  readonly isInto: boolean
}

const SPEC = new Set(['sources', 'artifacts', 'commonMetadata'])
const ARTIFACT = new Set(['name', 'revision', 'originRevision', 'copy'])
const COPY = new Set(['from', 'to', 'strategy'])

/**
 * What an ArtifactGenerator copies into an artifact of that name (source-watcher, internal/builder), a text: why that is
 * not followed, undefined where it makes none. Only plain copies of GitRepositories of its own namespace are.
 */
export function generatedCopies(generator: KubeObject, name: string): readonly GeneratedCopy[] | string | undefined {
  const { root } = generator
  const { namespace } = idOf(generator)
  const [artifact, ...others] = itemsOf(at(root, ['spec', 'artifacts'])).filter(one => stringAt(one, ['name']) === name)
  if (!artifact) return undefined
  const isHeld =
    stringAt(root, ['metadata', 'annotations', `${EXTENSIONS_GROUP}/reconcile`])?.toLowerCase() === 'disabled'
  if (isHeld || others.length > 0 || !hasOnly(at(root, ['spec']), SPEC) || !hasOnly(artifact, ARTIFACT))
    return NOT_PLAIN
  const sources = new Map<string, string>()
  for (const one of itemsOf(at(root, ['spec', 'sources']))) {
    const text = (key: string) => stringAt(one, [key]) ?? ''
    const isPlain = sourceNamed(text('kind')) === GIT_REPOSITORY && [namespace, ''].includes(text('namespace'))
    if (isPlain) sources.set(text('alias'), `GitRepository/${namespace}/${text('name')}`)
  }
  const copies = itemsOf(at(artifact, ['copy'])).map(one => copyOf(one, sources))
  return copies.length > 0 && copies.every(one => one !== undefined) ? copies : NOT_PLAIN
}

const NOT_PLAIN =
  'its ArtifactGenerator does more than copy files and directories of GitRepositories of its own namespace'

function copyOf(copy: Node, sources: ReadonlyMap<string, string>): GeneratedCopy | undefined {
  const [, alias = '', pattern] = /^@([^/]+)\/(.*)$/.exec(stringAt(copy, ['from']) ?? '') ?? []
  const [, to] = /^@artifact\/(.*)$/.exec(stringAt(copy, ['to']) ?? '') ?? []
  const source = sources.get(alias)
  if (source === undefined || pattern === undefined || to === undefined || !hasOnly(copy, COPY)) return undefined
  if (!['Overwrite', ''].includes(stringAt(copy, ['strategy']) ?? '')) return undefined
  const isContent = pattern === '**' || pattern.endsWith('/**')
  const [from, target] = [isContent ? pattern.slice(0, -2) : pattern, to].map(plainPath)
  if (from === undefined || target === undefined || (from === '' && !isContent)) return undefined
  return { source, from, isContent, to: target, isInto: to === '' || to.endsWith('/') }
}

/** A path without a pattern and without steps up; undefined for others. */
function plainPath(path: string): string | undefined {
  const parts = path.split('/').filter(one => one !== '' && one !== '.')
  return /[*?[\]{}\\]/.test(path) || parts.includes('..') ? undefined : parts.join('/')
}

const hasOnly = (node: Node | undefined, keys: ReadonlySet<string>): boolean =>
  node?.type === 'map' && [...node.fields.keys()].every(key => keys.has(key))
