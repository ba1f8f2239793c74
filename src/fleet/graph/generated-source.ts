import type { Artifact } from '../../flux/artifact.ts'
import { packTree } from '../../flux/pack-tree.ts'
import { type Copied, copiedTree } from '../../flux/source/copied-tree.ts'
import type { KubeObject } from '../../kube/object.ts'
import { type GeneratedCopy, generatedCopies } from '../sources/generated-copies.ts'
import type { Resolved } from '../sources/sources.ts'
import type { NodeContext } from './node-context.ts'

type Content = Resolved & { readonly type: 'content' }
type Waiting = { readonly unknownSource: string }

/** Trees that generators made, each once for the same content. */
const made = new WeakMap<KubeObject, Map<string, Artifact>>()

/** The content of an ExternalArtifact that a generator of its namespace only copies together, or why it is not visible. */
export function generatedSource(
  { index, budgets }: NodeContext,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  tenant: string | undefined,
  resolve: (id: string) => Resolved | Waiting,
): Resolved | Waiting {
  const makers = index.generators(namespace).filter(one => generatedCopies(one, name) !== undefined)
  const [generator] = makers
  const copies = generator && generatedCopies(generator, name)
  if (!copies && !index.complete) return { unknownSource: `ExternalArtifact/${namespace}/${name}` }
  if (!copies || makers.length > 1) return opaque('the content of an ExternalArtifact is not in git')
  if (typeof copies === 'string') return opaque(copies)
  const sources = new Map<string, Content>()
  for (const { source } of copies) {
    const found = resolve(source)
    if ('unknownSource' in found || found.type === 'wanted') return found
    const why = found.type === 'opaque' ? found.reason : found.refused?.message
    if (found.type === 'opaque' || why !== undefined)
      return { ...opaque(`it is generated from ${source}: ${why}`), url: found.url, ref: found.ref }
    sources.set(source, found)
  }
  const { pack } = budgets.of(tenant)
  const placed = copies.map(copy => {
    const { tree, ignore, repository } = sources.get(copy.source)!.artifact
    return placedCopy(copy, { tree: packTree(tree, ignore, pack), repository })
  })
  const [[id, first], ...others] = [...sources] as [[string, Content], ...[string, Content][]]
  if (!placed.every(one => one !== undefined)) return opaque(`what its ArtifactGenerator copies of ${id} is not there`)
  const known = made.get(generator!) ?? new Map<string, Artifact>()
  made.set(generator!, known)
  const key = JSON.stringify([name, ...placed.map(({ tree, from, to }) => [tree.id, from, to])])
  const tree = known.get(key)?.tree ?? copiedTree(placed)
  if (!tree || hasIgnoreFile(tree)) return opaque('what its ArtifactGenerator copies together is not supported')
  const artifact = known.get(key) ?? { repository: first.artifact.repository, tree, composed: true as const }
  known.set(key, artifact)
  const includes = others.flatMap(([other, { url, ref, commit }]) => [{ id: other, url, ref, commit }])
  return { ...first, artifact, copies: placed, ...(includes.length > 0 ? { includes } : {}) }
}

const opaque = (reason: string): Resolved & { readonly type: 'opaque' } => ({
  type: 'opaque',
  url: '',
  ref: {},
  reason,
})

function placedCopy(
  { from, isContent, to, isInto }: GeneratedCopy,
  { tree, repository }: Pick<Copied, 'tree' | 'repository'>,
): Copied | undefined {
  const entry = tree.entry(from)
  if (!entry || (isContent && entry.type !== 'directory')) return undefined
  // a directory lands in the target by its name; a file as it, where it is not said to be a directory
  const isNamed = !isContent && (entry.type === 'directory' || isInto)
  return { tree, repository, from, to: isNamed ? [to, entry.name].filter(Boolean).join('/') : to }
}

/** Flux does not read such a file of a generated artifact, and our packing would. */
function hasIgnoreFile(tree: Artifact['tree'], directory = ''): boolean {
  return tree
    .list(directory)
    .some(({ name, type, path }) => name === '.sourceignore' || (type === 'directory' && hasIgnoreFile(tree, path)))
}
