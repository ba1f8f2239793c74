import { BailiwickError } from '../errors.ts'

/** A limit of GitHub's is over within the hour: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api */
const LONGEST_MS = 65 * 60 * 1000

/** How long everything of an installation must rest after an error, in ms; undefined where nothing but the job failed. */
export function pauseOf(error: unknown): number | undefined {
  return error instanceof BailiwickError && error.limited ? Math.max(1_000, askedFor(error)) : undefined
}

/** How long an error asks to wait before the job is tried again, in ms; 0 where it does not say. */
export function askedFor(error: unknown): number {
  return error instanceof BailiwickError ? Math.min(LONGEST_MS, (error.retryAfter ?? 0) * 1000) : 0
}

/** The installation whose limits a job runs into; undefined where it belongs to none. */
export function holderOf(data: object): string | undefined {
  const { installation } = data as { readonly installation?: number }
  return installation === undefined ? undefined : String(installation)
}

/** What shares the workers evenly with others of its kind: the repository that a job is about. */
export function shareOf(data: object): string | undefined {
  const { owner, repo } = data as { readonly owner?: string; readonly repo?: string }
  return owner === undefined || repo === undefined ? undefined : `${owner}/${repo}`.toLowerCase()
}
