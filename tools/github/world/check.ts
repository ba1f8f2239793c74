import type { App } from '../world.ts'

export interface Annotation {
  readonly path: string
  readonly start_line: number
  readonly end_line: number
  readonly start_column: number | null
  readonly end_column: number | null
  readonly annotation_level: 'notice' | 'warning' | 'failure'
  readonly title: string | null
  readonly message: string
  readonly raw_details: string | null
}

/** The check runs of one app on one commit. */
export interface CheckSuite {
  readonly id: number
  readonly app: App
  readonly headSha: string
  readonly headBranch: string | null
  readonly before: string | null
  status: 'queued' | 'in_progress' | 'completed'
  conclusion: string | null
  readonly createdAt: string
  updatedAt: string
}

export interface CheckRun {
  readonly id: number
  readonly suite: number
  readonly app: App
  readonly headSha: string
  name: string
  externalId: string
  detailsUrl: string | null
  status: 'queued' | 'in_progress' | 'completed'
  conclusion: string | null
  startedAt: string | null
  completedAt: string | null
  output: { title: string | null; summary: string | null; text: string | null }
  readonly annotations: Annotation[]
  actions: readonly { readonly label: string; readonly description: string; readonly identifier: string }[]
}
