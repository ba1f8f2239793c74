import type { Annotation } from './annotations.ts'
import type { Button } from './buttons.ts'

/** A finished check run. GitHub takes 50 annotations per request: the caller sends them in portions. */
export interface CheckRunText {
  readonly conclusion: 'success' | 'failure'
  readonly title: string
  readonly summary: string
  readonly annotations: readonly Annotation[]
  readonly actions: readonly Button[]
}

/** What a check run says about a verdict; what it concludes is the decision's. */
export type VerdictText = Omit<CheckRunText, 'conclusion'>
