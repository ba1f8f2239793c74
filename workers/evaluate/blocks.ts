import { decisionOf } from './decision-of.ts'
import type { Said } from './said.ts'

/** Whether the decision blocks a merge. */
export function blocks(said: Said): boolean {
  return decisionOf(said).conclusion !== 'success'
}
