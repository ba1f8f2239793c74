import { BailiwickError } from '../../base/errors.ts'
import { type Artifact, markPacked, packTree } from '../../flux/artifact.ts'
import {
  costSince,
  type RenderBudget,
  type RenderCost,
  type RenderFacts,
  renderKustomization,
} from '../../flux/render-kustomization.ts'
import type { FindVariableSource, VariableSource } from '../../flux/substitute/variables.ts'
import type { Tree } from '../../git/tree.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { type FindRemote, shareParsed } from '../../kustomize/pipeline/build-files.ts'
import { sameDeep } from '../model/same-node.ts'
import { changedPaths, type RecordedTree, recordReads } from './trees.ts'

type Render = (artifact: Artifact, kustomization: KubeObject, facts: Rendering) => readonly KubeObject[]

/** What was rendered when a fleet was built, by node, for the next time that it is. */
export class RenderMemory {
  readonly rendered: Map<string, readonly KubeObject[]>
  readonly #onRendered: ((spared: boolean) => void) | undefined
  readonly #watch: Watch | undefined
  /** How many renderings were not spared. */
  count = 0

  /** `rendered`: what was there before; it is filled further. `onRendered` is called for each rendering. */
  constructor(
    rendered: Map<string, readonly KubeObject[]> = new Map(),
    onRendered?: (spared: boolean) => void,
    watch?: Watch,
  ) {
    this.rendered = rendered
    this.#onRendered = onRendered
    this.#watch = watch
  }

  /** What stands in for renderKustomization where a node, or a step towards a root, is rendered. */
  render(key: string): Render {
    return (artifact, kustomization, facts) => {
      this.#watch?.running(key)
      if (this.#watch?.stopped.has(key)) throw stopped()
      const before = this.rendered.get(key)
      const again = renderAgain(before, artifact, kustomization, facts)
      if (!again.spared) this.count++
      this.rendered.set(key, again.objects)
      this.#onRendered?.(again.spared)
      return again.objects
    }
  }
}

function stopped(): BailiwickError {
  return new BailiwickError('evaluation-limits', 'rendering this Kustomization exceeded the time or memory limit', {
    fix: 'Render fewer objects, or ask the operator to raise RENDER_TIMEOUT_MS or RENDER_HEAP_MB.',
  })
}

/** How a rendering came about: everything that it depended on, and what it took. */
interface RenderRecord {
  readonly artifact: Artifact
  /** The artifact as it was packed, which `reads` is about. */
  readonly packed: Tree
  readonly reads: RecordedTree
  readonly kustomization: KubeObject
  readonly strict: boolean
  readonly values: ReadonlyMap<string, VariableSource | undefined>
  readonly remotes: ReadonlyMap<string, string | undefined>
  readonly opened: RenderFacts['opened']
  readonly cost: RenderCost
}

const records = new WeakMap<readonly KubeObject[], RenderRecord>()

/** What was read of the last trees of which the same came out, the latest first. */
const readings = new WeakMap<
  readonly KubeObject[],
  readonly { readonly tree: string; readonly reads: RecordedTree }[]
>()
const MAX_READINGS = 8

function keep(objects: readonly KubeObject[], record: RenderRecord): void {
  const { artifact, reads } = record
  records.set(objects, record)
  const others = (readings.get(objects) ?? []).filter(({ tree }) => tree !== artifact.tree.id)
  readings.set(objects, [{ tree: artifact.tree.id, reads }, ...others].slice(0, MAX_READINGS))
}

/** What was read of the tree with this id for what was rendered; undefined where that is not remembered. */
export function readsOf(objects: readonly KubeObject[], tree: string): RecordedTree | undefined {
  const all = readings.get(objects) ?? []
  return (all.find(one => one.tree === tree) ?? all[0])?.reads
}

/** How the objects were rendered; undefined where that was not recorded. */
export const recordOf = (objects: readonly KubeObject[]): RenderRecord | undefined => records.get(objects)

/** Facts of a rendering whose budget is shared. */
type Rendering = RenderFacts & { readonly budget: RenderBudget }

/**
 * Renders as renderKustomization does, unless `before` came about in the same way: then that is the answer. It costs the
 * same, so that nothing else is decided by what is remembered. Throws what renderKustomization throws.
 */
export function renderAgain(
  before: readonly KubeObject[] | undefined,
  artifact: Artifact,
  kustomization: KubeObject,
  facts: Rendering,
): { readonly objects: readonly KubeObject[]; readonly spared: boolean } {
  const { budget, strict = true, opened } = facts
  const packed = packTree(artifact.tree, artifact.ignore, budget.pack, artifact.root)
  const known = before && records.get(before)
  if (before && known) {
    shareParsed(packed, known.packed)
    if (isSame(known, artifact, packed, kustomization, facts) && budget.takeAll(known.cost)) {
      keep(before, { ...known, artifact, packed })
      return { objects: before, spared: true }
    }
  }
  const reads = recordReads(packed)
  shareParsed(reads.tree, packed)
  markPacked(reads.tree, artifact.ignore)
  const [findSource, values] = recordValues(facts.findSource)
  const [find, remotes] = recordRemotes(facts.remotes)
  const spent = budget.spent()
  const rendered = renderKustomization({ ...artifact, tree: reads.tree }, kustomization, {
    ...facts,
    findSource,
    remotes: find,
  })
  const cost = costSince(budget, spent)
  const objects = before ? internObjects(rendered, before) : rendered
  keep(objects, { artifact, packed, reads, kustomization, strict, values, remotes, opened, cost })
  return { objects, spared: false }
}

function isSame(
  known: RenderRecord,
  artifact: Artifact,
  packed: Tree,
  kustomization: KubeObject,
  { findSource, strict = true, remotes, opened }: Rendering,
): boolean {
  return (
    known.artifact.repository === artifact.repository &&
    known.artifact.ignore === artifact.ignore &&
    known.artifact.root === artifact.root &&
    // where files of other repositories are, their places count beside their content
    (!artifact.tree.place || known.artifact.tree === artifact.tree) &&
    known.strict === strict &&
    sameDeep(known.opened, opened) &&
    (known.kustomization === kustomization || sameDeep(known.kustomization.root, kustomization.root)) &&
    known.reads.holdsIn(packed, changedPaths(known.packed, packed)) &&
    [...known.values].every(([id, value]) => {
      const [kind, name] = id.split('/') as ['ConfigMap' | 'Secret', string]
      return sameDeep(findSource?.(kind, name), value)
    }) &&
    [...known.remotes].every(([address, id]) => {
      const [url = '', commit = ''] = address.split(' ')
      return remotes?.(url, commit)?.id === id
    })
  )
}

/** The repositories that are asked for, and the ids of the trees that were answered. */
function recordRemotes(find: FindRemote | undefined): [FindRemote | undefined, Map<string, string | undefined>] {
  const remotes = new Map<string, string | undefined>()
  if (!find) return [undefined, remotes]
  const recording: FindRemote = (url, commit) => {
    const tree = find(url, commit)
    remotes.set(`${url} ${commit}`, tree?.id)
    return tree
  }
  return [recording, remotes]
}

/** What is asked for values, and what was answered. */
function recordValues(
  find: FindVariableSource = () => undefined,
): [FindVariableSource, Map<string, VariableSource | undefined>] {
  const values = new Map<string, VariableSource | undefined>()
  const recording: FindVariableSource = (kind, name) => {
    const found = find(kind, name)
    values.set(`${kind}/${name}`, found)
    return found
  }
  return [recording, values]
}

/**
 * The same objects, each of them that was there before, with all its origins, being the very object of before: a
 * comparison by identity then shows what changed. The list itself is that of before where nothing did.
 */
function internObjects(objects: readonly KubeObject[], before: readonly KubeObject[]): readonly KubeObject[] {
  // most stay where they were
  const inPlace = objects.map((object, index) => sameDeep(before[index], object))
  if (objects.length === before.length && inPlace.every(Boolean)) return before
  const others = Map.groupBy(
    before.filter((_, index) => !inPlace[index]),
    keyOf,
  )
  return objects.map((object, index) => {
    if (inPlace[index]) return before[index]!
    const list = others.get(keyOf(object))
    const place = list?.findIndex(other => sameDeep(other, object)) ?? -1
    return place < 0 ? object : list!.splice(place, 1)[0]!
  })
}

const keyOf = (object: KubeObject): string => Object.values(idOf(object)).join('\0')

/** How far the walk of a fleet is. `known`: renderings that were spared; `total`: the nodes of the state before. */
export interface WalkProgress {
  readonly rendered: number
  readonly known: number
  readonly total?: number
}

/** Follows the work so that the caller can stop it, and skips nodes that were stopped before. */
export interface Watch {
  /** The node that is rendered or evaluated from now on; '' for something else. */
  readonly running: (key: string) => void
  /** Keys of nodes that are not rendered: each is an error (`evaluation-limits`). */
  readonly stopped: ReadonlySet<string>
}
