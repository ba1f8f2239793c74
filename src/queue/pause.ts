import { BailiwickError } from '../errors.ts'

/** A limit of GitHub's is over within the hour: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api */
const LONGEST_MS = 65 * 60 * 1000

/** How long an installation must pause after an error, in ms; undefined if only the job failed. */
export function pauseOf(error: unknown): number | undefined {
  return error instanceof BailiwickError && error.limited ? Math.max(1_000, askedFor(error)) : undefined
}

/** The delay before a retry that an error requests, in ms; 0 if none. */
export function askedFor(error: unknown): number {
  return error instanceof BailiwickError ? Math.min(LONGEST_MS, (error.retryAfter ?? 0) * 1000) : 0
}

/** The installation whose rate limits a job uses; undefined if it has none. */
export function holderOf(data: object): string | undefined {
  const { installation } = data as { readonly installation?: number }
  return installation === undefined ? undefined : String(installation)
}

/** The repository by which workers are shared fairly among jobs of a kind. */
export function shareOf(data: object): string | undefined {
  const { owner, repo } = data as { readonly owner?: string; readonly repo?: string }
  return owner === undefined || repo === undefined ? undefined : `${owner}/${repo}`.toLowerCase()
}
