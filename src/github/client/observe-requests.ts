import type { ProbotOctokit } from 'probot'
import { statusOf } from './github-error.ts'

type Client = InstanceType<typeof ProbotOctokit>

/** One answer of GitHub: which request, by its template where it has one. */
export interface ObservedResponse {
  readonly method: string
  readonly url: string
  /** 0: none came. */
  readonly status: number
  readonly installation?: number
  /** What GitHub still allows of the hour's requests. */
  readonly remaining?: number
}

/** Tells of each answer that a client gets. */
export function observeRequests(
  client: Client,
  tell: ((answer: ObservedResponse) => void) | undefined,
  installation?: number,
): Client {
  if (!tell) return client
  const by = installation === undefined ? {} : { installation }
  client.hook.after('request', ({ status, headers }, { method, url }) => {
    tell({ method, url, status, ...by, ...remainingOf(headers) })
  })
  client.hook.error('request', (error, { method, url }) => {
    const headers = 'response' in error ? error.response?.headers : undefined
    tell({ method, url, status: statusOf(error) ?? 0, ...by, ...remainingOf(headers ?? {}) })
    throw error
  })
  return client
}

function remainingOf(headers: object): { readonly remaining?: number } {
  const remaining = Number(new Map(Object.entries(headers)).get('x-ratelimit-remaining') ?? Number.NaN)
  return Number.isInteger(remaining) ? { remaining } : {}
}
