import { idOf } from '../../kube/object.ts'
import type { FleetNode, NotSeen } from '../model/fleet.ts'
import { type RenderedSet, renderResourceSet, setsIn } from '../resource-sets/render-resource-set.ts'
import { setKey } from './open-resource-sets.ts'

const REASON = 'the Flux Operator creates objects from it on the cluster, and Bailiwick does not evaluate them'
const FEW = 3

/**
 * The ResourceSets of a fleet of which something is not rendered: what they template, Kustomizations of tenants among it, is
 * made on the cluster, from inputs that may come from elsewhere. Source: https://fluxoperator.dev/docs/crd/resourceset/
 */
export function generatingObjects(nodes: readonly FleetNode[]): NotSeen[] {
  const opened = new Set(nodes.map(({ key }) => key))
  const reasons = new Map<string, string>()
  for (const { hub, cluster, objects } of nodes) {
    for (const set of setsIn(objects)) {
      const { namespace, name } = idOf(set)
      const id = `ResourceSet/${namespace}/${name}`
      const { objects: made, left } = renderResourceSet(set)
      const isOpened = hub === undefined && opened.has(setKey(cluster, set))
      const reason = isOpened || made.length === 0 ? leftText(left) : REASON
      if (reason !== undefined && !reasons.has(id)) reasons.set(id, reason)
    }
  }
  return [...reasons]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([source, reason]) => ({ source, url: '', reason, what: 'objects' }))
}

/** Undefined where nothing is left. */
function leftText(left: RenderedSet['left']): string | undefined {
  if (left.length === 0) return undefined
  const shown = left.slice(0, FEW).map(({ at, why }) => `${at}: ${why}`)
  const more = left.length > FEW ? `; and ${left.length - FEW} more` : ''
  const parts = left.length === 1 ? '1 part of it is' : `${left.length} parts of it are`
  return `${parts} not evaluated (${shown.join('; ')}${more})`
}
