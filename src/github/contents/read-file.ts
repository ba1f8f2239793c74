import { BailiwickError } from '../../errors.ts'
import { unlessMissing } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'

/** A file on the default branch; undefined where there is none. Throws `git-corrupt` for what is no plain file. */
export async function readFile(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  path: string,
): Promise<Uint8Array | undefined> {
  const found = await unlessMissing(`read ${path} of ${owner}/${repo}`, () =>
    octokit.rest.repos.getContent({ owner, repo, path }),
  )
  if (!found) return undefined
  const { data } = found
  if (Array.isArray(data) || data.type !== 'file' || !('content' in data) || data.encoding !== 'base64') {
    throw new BailiwickError('git-corrupt', `${path} of ${owner}/${repo} is not a text file`, {
      fix: 'Commit it as a plain file.',
    })
  }
  return new Uint8Array(Buffer.from(data.content, 'base64'))
}
