import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import type { Artifact } from '../../flux/artifact.ts'
import { sparseTree } from '../../flux/source-trees.ts'
import type { Tree } from '../../git/tree.ts'
import { EXTENSIONS_GROUP, GIT_REPOSITORY, sourceNamed } from '../../kube/flux-kinds.ts'
import { at, itemsOf, type Node, originAt, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { Entry } from '../../kustomize/entry.ts'
import { text } from '../model/kustomization-spec.ts'
import type { Resolved } from './sources.ts'

type Content = Resolved & { readonly type: 'content' }

/**
 * A source with its sparse checkout done. Throws `flux-invalid` for directories that source-controller refuses.
 */
export function composeSource(base: Content, spec: ContentSpec): Resolved {
  const refused = spec.submodules && withoutSubmodules(base.artifact.tree, spec.submodules)
  if (refused) return { ...base, refused }
  if (!spec.sparse) return base
  const artifact: Artifact = { ...base.artifact, tree: sparseTree(base.artifact.tree, spec.sparse), composed: true }
  return { ...base, artifact }
}

function* entriesOf(tree: Tree): Generator<string> {
  const queue = ['']
  for (let directory = queue.pop(); directory !== undefined; directory = queue.pop()) {
    for (const { path, type } of tree.list(directory)) {
      yield type
      if (type === 'directory') queue.push(path)
    }
  }
}

/** Without submodules in the tree there is nothing to recurse into. */
function withoutSubmodules(tree: Tree, origin: Origin): BailiwickError | undefined {
  for (const type of entriesOf(tree)) {
    if (type !== 'submodule') continue
    const message = 'spec.recurseSubmodules: not supported. Bailiwick does not read submodules'
    const fix = 'Declare a source for the other repository, and a Kustomization for each.'
    return new BailiwickError('flux-unsupported', message, { origin, fix })
  }
  return undefined
}

/** What a GitRepository asks of its content beside an address and a ref. */
interface ContentSpec {
  /** Undefined: all of it. */
  readonly sparse: readonly Entry[] | undefined
  readonly submodules: Origin | undefined
}

/**
 * Reads `sparseCheckout` and `recurseSubmodules`. Throws `flux-invalid` for what the API server refuses,
 * `flux-unsupported` for `include`: files that another repository puts over those of this one.
 */
export function contentSpec(source: KubeObject): ContentSpec {
  const submodules = at(source.root, ['spec', 'recurseSubmodules'])
  const recurses = submodules?.type === 'scalar' && submodules.value === true
  if (items(source, 'include').length > 0) {
    throw new BailiwickError(
      'flux-unsupported',
      'spec.include: not supported. Allowed: one repository for each source',
      {
        origin: originAt(source.root, ['spec', 'include']),
        fix: 'Copy the files into this repository, or copy directories of both together with an ArtifactGenerator.',
      },
    )
  }
  return { sparse: readSparse(source), submodules: recurses ? submodules.origin : undefined }
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
