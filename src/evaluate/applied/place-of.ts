import type { FleetNode } from '../../fleet/model/fleet.ts'
import { fieldTexts } from '../../kube/field-texts.ts'
import { at } from '../../kube/node.ts'
import { leftOutOf } from './left-out.ts'

/**
 * What of a Kustomization's spec says only when it is applied, from where, or is in the identity already. Whatever else it
 * may say decides what becomes of objects that nobody sees.
 */
const ELSEWHERE = new Set([
  'interval',
  'retryInterval',
  'timeout',
  'wait',
  'healthChecks',
  'healthCheckExprs',
  'dependsOn',
  'prune',
  'path',
  'sourceRef',
  'serviceAccountName',
  'suspend',
])

/** Where, as whom and in which form a node applies what it renders, to be compared with what another one does. */
interface Place {
  /** Undefined: nothing of it is applied, because it is suspended or Flux refuses it. */
  readonly now: string | undefined
  /** The places where the same is no news in a later fleet: what is applied may be held there, what is held is not applied. */
  readonly known: readonly string[]
}

/**
 * What is not evaluated of a node is known only where its place is: the same bytes on another cluster, with another account or
 * with other values from elsewhere are something else. `isHeld`: what git says of the node does not reach its cluster, so
 * whatever it says there, its controller goes on (see HeldNodes).
 */
export function placeOf(node: FleetNode, isHeld: boolean, values = node.values ?? ''): Place {
  if (leftOutOf(node).some(({ isFatal }) => isFatal)) return { now: undefined, known: [] }
  const spec = fieldTexts(at(node.kustomization.root, ['spec']), name => !ELSEWHERE.has(name))
  const place = JSON.stringify([node.cluster, node.identity.user, spec, values])
  const held = heldAt(place)
  if (isHeld) return { now: held, known: [held] }
  return node.suspend ? { now: undefined, known: [held] } : { now: place, known: [place, held] }
}

/** A place of a node that is held. */
export const heldAt = (place: string) => `held ${place}`
