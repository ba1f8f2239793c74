import { join } from 'node:path'
import type { ApplyAnswers } from './apply-answers.ts'

/** What a real API server answered: `npm run differential:rbac -- --save` writes it anew. */
export const RECORDED = join(import.meta.dirname, '../../../fixtures/rbac/apply-answers.json')

/** The worlds follow from the seed; of one that was left out there are no answers. */
export interface RecordedAnswers {
  /** Of the API server. */
  readonly version: string
  readonly seed: number
  readonly perWorld: number
  readonly facts: readonly ApplyAnswers[]
  readonly worlds: readonly (readonly ApplyAnswers[])[]
}
