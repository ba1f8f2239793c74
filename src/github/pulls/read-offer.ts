import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import { isOurs } from '../client/is-ours.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** What became of a pull request that our App opened once; `none`: it never did. */
type Offer = { readonly state: 'open'; readonly pull: number } | { readonly state: 'closed' | 'none' }

/** What became of our pull request from one branch onto another; one that is open counts more than those before it. */
export async function readOffer(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
  { base, branch }: { readonly base: string; readonly branch: string },
): Promise<Offer> {
  const all = await github(message`list the pull requests of ${repositoryPart({ owner, repo })}`, () =>
    octokit.paginate(octokit.rest.pulls.list, {
      ...{ owner, repo, state: 'all', base, head: `${owner}:${branch}`, per_page: 100 },
    }),
  )
  // a head that GitHub cannot parse would be ignored and every pull request returned
  const ours = all.filter(one => one.base.ref === base && one.head.ref === branch && isOurs(app, one))
  const open = ours.find(one => one.state === 'open')
  if (open) return { state: 'open', pull: open.number }
  return { state: ours.length > 0 ? 'closed' : 'none' }
}
