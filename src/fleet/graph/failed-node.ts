import { createHash } from 'node:crypto'
import { BailiwickError } from '../../errors.ts'
import type { Artifact } from '../../flux/artifact.ts'
import { artifactPath } from '../../flux/artifact-path.ts'
import { isFatal } from '../../flux/is-fatal.ts'
import { markPacked, packTree } from '../../flux/pack-tree.ts'
import { renderKustomization } from '../../flux/render-kustomization.ts'
import { readUnlessLarge, type Tree } from '../../git/tree.ts'
import { canonical, stringAt } from '../../kube/node.ts'
import { addressIn } from '../model/address-in.ts'
import { namedRepositories } from '../model/named-repositories.ts'
import { recordReads } from '../rendering/record-reads.ts'
import { componentsOf, touchReachable } from '../rendering/touch-reachable.ts'
import type { Draft } from './draft.ts'
import type { NodeContext } from './node-context.ts'
import { needsOf } from './node-values.ts'
import { objectTexts } from './object-texts.ts'

/**
 * Adds to a node that failed, or of which something was left out, what its rendering reads or would read if we knew how, so that a change elsewhere is known not
 * to touch it, and a change behind what we do not know is never taken for one elsewhere. `followed`: what nodes of the
 * cluster follow.
 */
export function failedNode(context: NodeContext, draft: Draft, followed: ReadonlySet<string>): void {
  const hash = createHash('sha256').update(canonical(draft.kustomization.root)).update(JSON.stringify(draft.source.ref))
  const values = needsOf(draft.kustomization).map(({ id }) => context.values.describe(id))
  for (const value of values) hash.update(value)
  if (values.length > 0) draft.values = createHash('sha256').update(JSON.stringify(values)).digest('hex')
  const artifact = context.artifacts.get(draft.key)
  const reads = artifact && (isWhole(context, draft) ? wholeTree(artifact) : readsOf(artifact, draft, context))
  if (reads) hash.update(reads.key)
  draft.inputs = hash.digest('hex')
  // what a tenant's node names is not believed: it could so turn the gate of anybody red
  if (reads && artifact && draft.tenant === undefined) {
    const own = canonical(draft.kustomization.root)
    // of what nothing is known, and nothing was, any file may say where it leads
    const isDark = draft.unknown && draft.objects.length === 0
    const named = namedRepositories([own, ...values, ...textsAt(artifact.tree, isDark ? undefined : reads.paths)])
    // where only parts were left out, what the rest of it names leads there in the open
    const known = keepsLast(draft) ? draft.retained! : []
    const open = new Set([
      ...namedRepositories(objectTexts([...draft.objects, ...known])),
      ...(isDark || known.length > 0 ? followed : []),
    ])
    const hidden = named.filter(name => !open.has(name))
    draft.hides = [...new Set(hidden.flatMap(name => [name, addressIn(context.aliases, name)]))].sort()
  }
}

/**
 * Flux refuses it, so the cluster has what its last complete build gave: that is in the fleet, and what it leads to is open.
 * Only what is named beside that may newly matter once it is fixed.
 */
const keepsLast = ({ error, retained = [] }: Draft) => error !== undefined && isFatal(error) && retained.length > 0

/** What took too long once is not rendered again to see what it reads. */
const isWhole = ({ whole }: NodeContext, { key, error }: Draft) => whole.has(key) || error?.code === 'evaluation-limits'

interface Reads {
  readonly key: string
  /** Undefined: everything. */
  readonly paths: readonly string[] | undefined
}

const wholeTree = ({ tree }: Artifact): Reads => ({ key: tree.id, paths: undefined })

/** Text of the files at the paths, and of those directly in a directory among them. */
function* textsAt(tree: Tree, paths: readonly string[] | undefined): Generator<string> {
  const decoder = new TextDecoder()
  const queue = paths === undefined ? [''] : [...paths]
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const { type } = tree.entry(path) ?? {}
    const bytes = type === 'file' ? readUnlessLarge(tree, path) : undefined
    if (bytes) yield decoder.decode(bytes.slice())
    if (type !== 'directory') continue
    for (const below of tree.list(path)) if (below.type === 'file' || paths === undefined) queue.push(below.path)
  }
}

/** Everything, where finding out would take more than the tenant may still use up. */
function readsOf(artifact: Artifact, { kustomization, tenant }: Draft, context: NodeContext): Reads {
  const budget = context.readBudgets.of(tenant)
  let recorded = recordReads(artifact.tree)
  try {
    recorded = recordReads(packTree(artifact.tree, artifact.ignore, budget.pack, artifact.root))
    const below = artifactPath(stringAt(kustomization.root, ['spec', 'path']) ?? '')
    const path = [artifact.root ?? '', below].filter(Boolean).join('/')
    touchReachable(recorded.tree, path, componentsOf(kustomization), budget.build)
    markPacked(recorded.tree, artifact.ignore)
    renderKustomization({ ...artifact, tree: recorded.tree }, kustomization, { budget })
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    // What cannot even be packed fails as a whole, so it changes as a whole.
    if (recorded.isUntouched() || error.code === 'render-limits') return wholeTree(artifact)
  }
  return { key: recorded.key(), paths: recorded.paths() }
}
