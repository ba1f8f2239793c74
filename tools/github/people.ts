import { commitNamed } from './actions/resolve.ts'
import { onChecks } from './people/checks.ts'
import type { Directory } from './people/directory.ts'
import { onGit, type Push } from './people/git.ts'
import { onIssues } from './people/issues.ts'
import { type NewPullRequest, onPulls } from './people/pulls.ts'
import { onRepositories } from './people/repositories.ts'
import { onReviews } from './people/reviews.ts'
import { onSettings } from './people/settings.ts'
import { onTheWeb } from './people/web.ts'
import type { World } from './world.ts'

export interface Proposal extends Omit<NewPullRequest, 'head'>, Pick<Push, 'files' | 'remove' | 'message'> {
  readonly branch: string
  /** Branch that the new one begins at, when it is not the base. */
  readonly from?: string
}

/** What people do on github.com and with git, as plain functions. Who may not do it gets an HttpError with GitHub's words. */
export function people(world: World, directory: Directory) {
  const [git, pulls] = [onGit(world, directory), onPulls(world, directory)]

  /** Pushes a new branch and opens its pull request; its number. */
  function propose({ branch, from, files = {}, remove = [], message = 'Change', ...pull }: Proposal): number {
    const repo = pull.headRepo ?? pull.repo
    const repository = directory.repositoryNamed(repo)
    const { sha: parent } = commitNamed(repository, from ?? pull.base ?? repository.defaultBranch)
    git.push({ repo, branch, parent, files, remove, message, as: pull.as })
    return pulls.openPullRequest({ ...pull, head: branch }).issue.number
  }

  return {
    ...{ ...git, ...pulls, propose },
    ...onIssues(world, directory),
    ...onChecks(world, directory),
    ...onReviews(world, directory),
    ...onTheWeb(world, directory),
    ...onSettings(world, directory),
    ...onRepositories(world, directory),
  }
}
