import { onChecks } from './people/checks.ts'
import type { Directory } from './people/directory.ts'
import { onGit } from './people/git.ts'
import { onIssues } from './people/issues.ts'
import { onPulls } from './people/pulls.ts'
import { onRepositories } from './people/repositories.ts'
import { onReviews } from './people/reviews.ts'
import { onSettings } from './people/settings.ts'
import { onTheWeb } from './people/web.ts'
import type { World } from './world.ts'

/** What people do on github.com and with git, as plain functions. Who may not do it gets an HttpError with GitHub's words. */
export function people(world: World, directory: Directory) {
  return {
    ...onGit(world, directory),
    ...onPulls(world, directory),
    ...onIssues(world, directory),
    ...onChecks(world, directory),
    ...onReviews(world, directory),
    ...onTheWeb(world, directory),
    ...onSettings(world, directory),
    ...onRepositories(world, directory),
  }
}
