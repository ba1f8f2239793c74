import type { FleetNode } from './fleet.ts'
import { ASKED, WANTED } from './open-node.ts'

/** Whether all objects of a node are known. */
export const isComplete = ({ digest }: Pick<FleetNode, 'digest'>): boolean => digest !== ''

/** Whether a node did not build as a whole; one whose source is still to be read is not decided yet. */
export function isIncomplete(node: Pick<FleetNode, 'digest' | 'source'>): boolean {
  const { opaque } = node.source
  return !isComplete(node) && opaque !== WANTED && opaque !== ASKED
}
