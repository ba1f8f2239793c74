import type { BailiwickError } from '../../errors.ts'
import type { FleetNode } from './fleet.ts'

/** Why not all of what a node renders is known: its error, or the first of what was left out of it. */
export function whyIncomplete({ error, holes = [] }: Pick<FleetNode, 'error' | 'holes'>): BailiwickError | undefined {
  return error ?? holes[0]?.error
}
