import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { readApplySettings } from '../flux/apply-settings/read-apply-settings.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import type { NodePrune } from './mass-prune.ts'

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
  const before = new Map(base.nodes.map(node => [node.key, node]))
  const after = new Map(head.nodes.map(node => [node.key, node]))
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

/** One that goes ends as its deletionPolicy says. */
function deletes(was: FleetNode, now: FleetNode | undefined): boolean {
  if (now) return now.prune
  const { deletionPolicy } = readApplySettings(was.kustomization, was.namespace).settings
  return deletionPolicy === 'MirrorPrune' ? was.prune : deletionPolicy !== 'Orphan'
}

/** Its parent renders it no more, or is gone for that reason. With a parent that does not build, or a cluster that is gone, unknown. */
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
