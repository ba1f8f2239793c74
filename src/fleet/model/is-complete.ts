import type { FleetNode } from './fleet.ts'
import { ASKED, WANTED } from './unread.ts'

/** Whether all objects of a node are known. */
export const isComplete = ({ digest }: Pick<FleetNode, 'digest'>): boolean => digest !== ''

/** Whether a node did not build as a whole; one that waits for content that is still to be read is not decided yet. */
export function isIncomplete(node: Pick<FleetNode, 'digest' | 'source' | 'remotes'>): boolean {
  const sources = [node.source, ...(node.remotes ?? [])]
  return !isComplete(node) && sources.every(({ opaque }) => opaque !== WANTED && opaque !== ASKED)
}
