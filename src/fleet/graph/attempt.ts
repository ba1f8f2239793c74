import { BailiwickError } from '../../errors.ts'
import type { Draft } from './draft.ts'

/** Takes a step; what it refuses is an error of the node. */
export function attempt(draft: Draft, step: () => void): void {
  try {
    step()
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    draft.error ??= error
  }
}
