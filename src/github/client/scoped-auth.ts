import type { ProbotOctokit } from 'probot'
import { statusOf } from './github-error.ts'

type AppClient = InstanceType<typeof ProbotOctokit>

interface RequestOptions {
  readonly headers: object
}

/** A token that is a second old may not have reached every machine of GitHub yet. */
const NEW_TOKEN_WAIT_MS = 1000

/** What a token is narrowed to; absent: all that the installation has. */
export interface TokenScope {
  readonly repositoryIds?: readonly number[]
  readonly permissions?: Readonly<Record<string, 'read' | 'write'>>
}

/**
 * Authentication with a token that reaches only these repositories of an installation, with these permissions, so that a
 * job about one tenant cannot touch another's. Tokens are cached by the App's client, per scope.
 */
export function scopedAuth(app: AppClient, installationId: number, { repositoryIds, permissions }: TokenScope) {
  const scope = {
    ...(repositoryIds ? { repositoryIds: [...repositoryIds] } : {}),
    ...(permissions ? { permissions: { ...permissions } } : {}),
  }
  const authorise = async (): Promise<string> => {
    const answer: unknown = await app.auth({ type: 'installation', installationId, ...scope })
    if (typeof answer === 'object' && answer && 'token' in answer) return String(answer.token)
    throw new TypeError('the App client did not answer with a token')
  }
  /** What octokit's core calls around each request. */
  const hook = async <O extends RequestOptions, R>(request: (options: O) => Promise<R>, options: O): Promise<R> => {
    const authorised = { ...options, headers: { ...options.headers, authorization: `token ${await authorise()}` } }
    try {
      return await request(authorised)
    } catch (error) {
      if (statusOf(error) !== 401) throw error
      await new Promise(resolve => setTimeout(resolve, NEW_TOKEN_WAIT_MS))
      return await request(authorised)
    }
  }
  return () => Object.assign(authorise, { hook })
}
