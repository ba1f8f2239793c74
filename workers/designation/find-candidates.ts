import type { Candidate } from '../../src/designation/designate.ts'
import type { Octokit } from '../../src/github/client/octokit.ts'
import { isDirectory } from '../../src/github/contents/is-directory.ts'
import { listOurIssues } from '../../src/github/issues/our-issues.ts'
import { readHeadAt } from '../../src/github/pulls/head-at.ts'
import { REPORT_MARKER } from '../../src/report/first-report/first-report.ts'
import { CLUSTERS, type Installation } from '../context/installation.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { inTurns } from './in-turns.ts'

/**
 * The first version that designates fleets. An installation from before began to be one with this version: what had a
 * `clusters` directory on that day counts as there when the App was installed.
 */
const FIRST_VERSION = '2026-11-22T00:00:00Z'

/** The repositories that look like a fleet, and which of them did when the App was installed. */
export async function findCandidates(
  context: WorkerContext,
  installation: Installation,
  octokit: Octokit,
  repositories: readonly ReadableRepository[],
): Promise<Candidate[]> {
  const looksLikeOne = await inTurns(repositories, repository => installation.isFleet(repository))
  const present = repositories.filter((_, index) => looksLikeOne[index])
  const since = firstDay(await context.app.installedAt(installation.id))
  const app = await context.app.identity()
  return inTurns(present, async repository => {
    const name = { owner: repository.owner, repo: repository.name }
    const issues = (await listOurIssues(octokit, app, name)) ?? []
    return {
      repository: repository.id,
      atInstallation: await wasOne(octokit, repository, since),
      reported: issues.some(({ body }) => body.startsWith(REPORT_MARKER.slice(0, -' -->'.length))),
    }
  })
}

function firstDay(installedAt: string): string {
  const isPast = Date.parse(FIRST_VERSION) <= Date.now()
  return isPast && FIRST_VERSION > installedAt ? FIRST_VERSION : installedAt
}

/** Whether the default branch had a `clusters` directory at that time. What GitHub does not know counts as no. */
async function wasOne(octokit: Octokit, repository: ReadableRepository, since: string): Promise<boolean> {
  const { owner, name: repo, defaultBranch, createdAt, pushedAt } = repository
  if (pushedAt === null || since === '' || !(Date.parse(createdAt) <= Date.parse(since))) return false
  if (Date.parse(pushedAt) <= Date.parse(since)) return true
  const head = await readHeadAt(octokit, { owner, repo }, defaultBranch, since)
  return head !== undefined && isDirectory(octokit, { owner, repo }, CLUSTERS, head)
}
