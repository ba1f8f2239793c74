import type { SourceRef } from '../src/fleet/input.ts'
import type { JudgeFollowers } from '../src/queue/queue.ts'
import { findRepository } from './combination/find-repository.ts'
import { githubInstallation } from './combination/github-installation.ts'
import { readFleets } from './combination/read-fleets.ts'
import type { WorkerContext } from './worker-context.ts'

/** Asks for a verdict on the fleets that follow a tag or branch, as they stand now: it moved, or it is gone. */
export async function judgeFollowers(context: WorkerContext, data: JudgeFollowers): Promise<void> {
  const octokit = await context.app.reader(data.installation)
  const installation = githubInstallation(context, data.installation, octokit)
  const repository = await findRepository(installation, { owner: data.owner, repo: data.repo })
  if (!repository) return
  for (const { place, commit: sha, sources } of await readFleets(context, installation)) {
    if (!sources.some(source => source.url === repository.url && mayMean(source.ref, data.ref))) continue
    const { owner, name: repo } = place.repository
    const { installation: id } = data
    await context.queue.add('validate-push', { installation: id, owner, repo, branch: place.branch, sha })
  }
}

/** Whether what a source follows may lead to this full name of a ref. A range of versions may lead to any tag. */
function mayMean(followed: SourceRef, ref: string): boolean {
  if (followed.commit) return false
  if (followed.name) return followed.name === ref
  if (followed.semver) return ref.startsWith('refs/tags/')
  if (followed.tag) return ref === `refs/tags/${followed.tag}`
  return ref === `refs/heads/${followed.branch || 'master'}`
}
