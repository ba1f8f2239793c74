import { BailiwickError } from '../../errors.ts'
import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import { isOurs } from '../client/is-ours.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'
import { type OwnPull, ownPull } from './read-own-pull.ts'

/** Pull requests of ours, the one that changed last first. */
interface ListedOwnPulls {
  readonly pulls: readonly OwnPull[]
  /** Every pull request of the repository was looked at. */
  readonly isAll: boolean
}

/** Pull requests of ours from branches that begin with `prefix`, among those that changed last: a hundred on each page. */
export async function listOwnPulls(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
  prefix: string,
  pages: number,
): Promise<ListedOwnPulls> {
  const question = { owner, repo, state: 'all', sort: 'updated', direction: 'desc', per_page: 100 } as const
  let read = 0
  let isAll = true
  const found = await github(message`list the pull requests of ${repositoryPart({ owner, repo })}`, () =>
    octokit.paginate(octokit.rest.pulls.list, question, ({ data, headers }, done) => {
      if (++read >= pages) {
        isAll = !headers.link?.includes('rel="next"')
        done()
      }
      return data
    }),
  )
  const ours = found.filter(one => {
    return one.head.ref.startsWith(prefix) && one.head.repo?.id === one.base.repo.id && isOurs(app, one)
  })
  // a pull request that changes meanwhile is on two pages
  const byNumber = new Map(ours.map(one => [one.number, one]))
  return { pulls: [...byNumber.values()].map(one => ownPull({ ...one, merged: one.merged_at !== null })), isAll }
}

/** More pages than any fleet has. */
const MAX_PAGES = 200

/** All of them, however long ago they changed. Throws `git-truncated` where the repository has more than 20,000 pull requests. */
export async function listAllOwnPulls(
  octokit: Octokit,
  app: AppIdentity,
  repository: RepositoryName,
  prefix: string,
): Promise<readonly OwnPull[]> {
  const { pulls, isAll } = await listOwnPulls(octokit, app, repository, prefix, MAX_PAGES)
  if (isAll) return pulls
  const { owner, repo } = repository
  throw new BailiwickError(
    'git-truncated',
    `${owner}/${repo}: more than ${MAX_PAGES * 100} pull requests are not listed`,
    {
      fix: 'Move the fleet to a repository with fewer pull requests.',
    },
  )
}
