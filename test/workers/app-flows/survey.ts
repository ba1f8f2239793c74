import { REPORT_MARKER } from '../../../src/report/first-report.ts'
import type { FakeGitHub } from '../../../tools/github/start.ts'
import type { Issue } from '../../../tools/github/world.ts'
import type { Stage } from '../story/stage.ts'

/** Has the App look at everything again, as an event or the sweep does. */
export async function surveyAgain(stage: Stage): Promise<void> {
  const [installation] = stage.github.world.installations.values()
  if (!installation) throw new Error('the App is not installed')
  await stage.site.queue.add('survey', { installation: installation.id })
  await stage.settle()
}

/** The first reports of a repository: issues of our App's with its marker. */
export function reportsOf(github: FakeGitHub, repo: string): Issue[] {
  return [...github.repositoryNamed(repo).issues.values()].filter(
    issue => issue.user === github.app.bot && (issue.body ?? '').startsWith(REPORT_MARKER),
  )
}

/** The one first report. Throws where there is another number of them. */
export function reportOf(github: FakeGitHub, repo = 'acme/fleet'): Issue & { body: string } {
  const [report, more] = reportsOf(github, repo)
  if (!report || more) throw new Error(`${repo} has ${report ? 'several' : 'no'} first reports`)
  return report as Issue & { body: string }
}

/** How many requests wrote something since the last `forget`. */
export function writes(github: FakeGitHub): string[] {
  return Object.keys(github.counts()).filter(
    route => !route.startsWith('GET') && !route.includes('access_tokens') && !route.endsWith('/git/trees'),
  )
}
