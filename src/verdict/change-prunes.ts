import { type Fleet, type FleetNode, nodesByKey } from '../fleet/model/fleet.ts'
import { digestOfTexts } from '../fleet/model/same-node.ts'
import { readApplySettings } from '../flux/apply-settings.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import { massPrunes, type NodePrune, type PruneLimits, prunePrints } from './mass-prune.ts'

/** What a change deletes that waits for an approval. */
export interface ChangePrunes {
  /** Of exactly these objects of these nodes; what a fleet admin approves. */
  readonly digest: string
  /** By the key of the node: what is deleted, in one sentence. */
  readonly nodes: readonly { readonly node: string; readonly what: string }[]
  /** How many other nodes are not shown to the readers. */
  readonly hidden: number
  /** Of nodes and objects, see prunePrints. */
  readonly prints: readonly string[]
  /** The fleet admin who approved them before the merge. */
  readonly approvedBy?: string
}

/** The record of an approval has no room for more. */
export const MAX_PRINTS = 2_000

/**
 * Those of the planned prunes that a worker would hold back. `present`: keys of all nodes after the change. `isShown`:
 * whether the readers may see what comes from a repository.
 */
export function changePrunes(
  planned: readonly PlannedPrune[],
  present: Iterable<string>,
  limits: PruneLimits,
  isShown: (source: string) => boolean = () => true,
): ChangePrunes | undefined {
  const held = massPrunes(planned, present, limits)
  if (held.size === 0) return undefined
  const prunes = planned.filter(({ node }) => held.has(node)).sort((a, b) => (a.node < b.node ? -1 : 1))
  return {
    digest: digestOfTexts(prunes.map(({ node }) => held.get(node)!.digest)).slice(0, 32),
    nodes: prunes.filter(one => isShown(one.source)).map(({ node }) => ({ node, what: held.get(node)!.what })),
    hidden: prunes.filter(one => !isShown(one.source)).length,
    prints: prunes.flatMap(prunePrints),
  }
}

/** Of several fleets: one digest for all. */
export function combinedPrunes(all: readonly ChangePrunes[]): ChangePrunes | undefined {
  const [first] = all
  if (!first || all.length === 1) return first
  return {
    digest: digestOfTexts(all.map(({ digest }) => digest)).slice(0, 32),
    nodes: all.flatMap(({ nodes }) => nodes),
    hidden: all.reduce((sum, { hidden }) => sum + hidden, 0),
    prints: all.flatMap(({ prints }) => prints),
  }
}

/** What a change would have a node delete; no object exists yet, so there are no uids. */
export interface PlannedPrune extends NodePrune {
  /** The cluster whose worker would delete it. */
  readonly cluster: string
  /** Address of the repository that the node reads before the change. */
  readonly source: string
}

/**
 * What a change would have deleted, by node: objects that it renders before and not after, and nodes that are gone. What
 * another Kustomization of the cluster renders after the change is not deleted: it moves there. Whether the rules allow that
 * is another question, which the worker asks. Of what does not build on either side nothing is deleted. Pure.
 */
export function plannedPrunes(base: Fleet, head: Fleet): PlannedPrune[] {
  const before = nodesByKey(base.nodes)
  const after = nodesByKey(head.nodes)
  let takers: Takers | undefined
  return base.nodes.flatMap(was => {
    const now = after.get(was.key)
    if (was === now || isUnknown(was) || (now && (isUnknown(now) || !now.prune))) return []
    if (!now && !isGone(was, before, after)) return []
    const own = new Set(now?.objects.map(keyOf))
    const gone = deletes(was, now) ? was.objects.filter(object => !own.has(keyOf(object))) : []
    takers ??= takersOf(head)
    const isMoved = (object: KubeObject) => takers!.get(placeOf(was, object))?.some(one => mayTake(was, one)) === true
    const objects = gone.filter(object => !isMoved(object)).map(object => ({ id: idOf(object), uid: '' }))
    const isAllMoved = was.objects.length > 0 && was.objects.every(isMoved)
    if (isAllMoved || (now && objects.length === 0)) return []
    const cluster = was.hub ?? was.cluster
    return [{ node: was.key, objects, had: was.objects.length, gone: !now, cluster, source: was.source.url }]
  })
}

/** Nothing of it is applied, so nothing is deleted; or what it has is not known. */
const isUnknown = ({ error, holes = [], source }: FleetNode): boolean =>
  error !== undefined || holes.length > 0 || source.opaque !== undefined

const keyOf = (object: KubeObject): string => {
  const { apiVersion, kind, namespace, name } = idOf(object)
  return JSON.stringify([groupOf(apiVersion), kind, namespace, name])
}

/** Nodes by the place of each object that they render. */
type Takers = ReadonlyMap<string, readonly FleetNode[]>

const placeOf = ({ cluster }: FleetNode, object: KubeObject): string => `${cluster} ${keyOf(object)}`

function takersOf({ nodes }: Fleet): Takers {
  const found = new Map<string, FleetNode[]>()
  for (const node of nodes)
    for (const object of node.objects) {
      const place = placeOf(node, object)
      found.set(place, [...(found.get(place) ?? []), node])
    }
  return found
}

/** As the worker decides it (workers/apply/moves.ts), as far as it is known before the evaluation. */
function mayTake(was: FleetNode, to: FleetNode): boolean {
  if (to.key === was.key) return false
  return to.tenant === undefined || to.identity.user === was.identity.user || !isUnknown(to)
}

/** A removed one ends by its deletionPolicy. */
function deletes(was: FleetNode, now: FleetNode | undefined): boolean {
  if (now) return now.prune
  const { deletionPolicy } = readApplySettings(was.kustomization, was.namespace).settings
  return deletionPolicy === 'MirrorPrune' ? was.prune : deletionPolicy !== 'Orphan'
}

/** Its parent no longer renders it, or is gone for that reason. Unknown if a parent does not build or the cluster is gone. */
function isGone(
  node: FleetNode,
  before: ReadonlyMap<string, FleetNode>,
  after: ReadonlyMap<string, FleetNode>,
): boolean {
  const seen = new Set<string>()
  for (let key = node.parent; key !== undefined && !seen.has(key); key = before.get(key)?.parent) {
    seen.add(key)
    const now = after.get(key)
    if (now) return !isUnknown(now)
  }
  return false
}
