import { BailiwickError } from '../../errors.ts'
import type { ObjectStore } from '../../git/object-store.ts'
import { message, part } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'
import { settleAll } from '../client/settle-all.ts'

const PARALLEL = 6

/**
 * Reads blobs one request each and puts them into the store, which checks them. Throws `git-corrupt` when an answer is
 * not what its id says, `git-missing` where there is none.
 */
export async function fetchBlobs(
  octokit: Octokit,
  store: ObjectStore,
  repository: RepositoryName,
  ids: readonly string[],
): Promise<void> {
  const open = [...ids]
  const work = async () => {
    try {
      for (let id = open.pop(); id !== undefined; id = open.pop()) {
        await store.writeBlob(id, await fetchBlob(octokit, repository, id))
      }
    } catch (error) {
      open.length = 0
      throw error
    }
  }
  await settleAll(Array.from({ length: Math.min(PARALLEL, ids.length) }, work))
}

async function fetchBlob(octokit: Octokit, { owner, repo }: RepositoryName, id: string): Promise<Uint8Array> {
  const { data } = await github(message`read blob ${part('value', id)} of ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.git.getBlob({ owner, repo, file_sha: id }),
  )
  if (typeof data.content !== 'string') {
    throw new BailiwickError(
      'github-unavailable',
      message`GitHub returned no content of blob ${part('value', id)} of ${repositoryPart({ owner, repo })}`,
    )
  }
  return Buffer.from(data.content, data.encoding === 'utf-8' ? 'utf8' : 'base64')
}
