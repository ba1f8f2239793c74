import type { BailiwickError } from '../../errors.ts'
import type { FleetNode } from './fleet.ts'
import { isComplete } from './is-complete.ts'

type Failed = Pick<FleetNode, 'error' | 'holes' | 'source'>

/** Whether something else than before keeps a node from building as a whole. */
export function hasMoreCauses(node: Failed, before: FleetNode): boolean {
  if (isComplete(before)) return true
  const known = causesOf(before)
  return [...causesOf(node)].some(cause => !known.has(cause))
}

/**
 * Why a node did not build as a whole, without the lines and the node. Two builds of the same causes lack the same; what
 * one of them has and the other lacks was taken out by someone.
 */
function causesOf({ error, holes = [], source }: Failed): Set<string> {
  return new Set([
    ...(error ? [causeOf(error, '')] : []),
    ...holes.map(hole => causeOf(hole.error, hole.hides)),
    ...(source.opaque === undefined ? [] : [`opaque ${source.url}`]),
  ])
}

const causeOf = ({ code, message, origin }: BailiwickError, hides: string): string =>
  JSON.stringify([code, origin?.repository, origin?.file, message.replace(/\d+/g, '#'), hides])
