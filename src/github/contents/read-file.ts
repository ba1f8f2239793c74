import { BailiwickError } from '../../errors.ts'
import { message, part } from '../../message/message.ts'
import { unlessMissing } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** A file on the default branch, or at a commit; undefined where there is none. Throws `git-corrupt` for what is no plain file. */
export async function readFile(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  path: string,
  ref?: string,
): Promise<Uint8Array | undefined> {
  const found = await unlessMissing(message`read ${part('path', path)} of ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.repos.getContent({ owner, repo, path, ...(ref === undefined ? {} : { ref }) }),
  )
  if (!found) return undefined
  const { data } = found
  if (Array.isArray(data) || data.type !== 'file' || !('content' in data) || data.encoding !== 'base64') {
    throw new BailiwickError(
      'git-corrupt',
      message`${part('path', path)} of ${repositoryPart({ owner, repo })} is not a text file`,
      {
        fix: 'Commit it as a plain file.',
      },
    )
  }
  return new Uint8Array(Buffer.from(data.content, 'base64'))
}

/** Blob id of a file at a commit; undefined if it does not exist or is not a plain file. */
export async function readBlobId(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  path: string,
  commit: string,
): Promise<string | undefined> {
  const found = await unlessMissing(message`read ${part('path', path)} of ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.repos.getContent({ owner, repo, path, ref: commit }),
  )
  return found && !Array.isArray(found.data) && found.data.type === 'file' ? found.data.sha : undefined
}
