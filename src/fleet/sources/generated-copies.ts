import { EXTENSIONS_GROUP, GIT_REPOSITORY, sourceNamed } from '../../flux/kinds.ts'
import { at, itemsOf, type Node, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'

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
