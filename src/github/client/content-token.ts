import { message } from '../../message/message.ts'
import { github } from './github-error.ts'
import type { Octokit } from './octokit.ts'

/**
 * A new token of an installation for exactly these repositories and `contents: read` (and `metadata: read`, which every token
 * has). Never without a list: GitHub would take that for all repositories.
 */
export async function contentToken(
  app: Octokit,
  installation: number,
  repositoryIds: readonly number[],
): Promise<{ token: string; expiresAt: string }> {
  if (repositoryIds.length === 0) throw new RangeError('a token for no repository would be one for all of them')
  const { data } = await github(message`create a token for the sources of a cluster`, () =>
    app.rest.apps.createInstallationAccessToken({
      installation_id: installation,
      repository_ids: [...repositoryIds],
      permissions: { contents: 'read' },
    }),
  )
  return { token: data.token, expiresAt: data.expires_at }
}
