import { type DesignationRecord, readDesignationMarker } from '../../src/designation/designation-record.ts'
import type { AppIdentity, Octokit } from '../../src/github/client/octokit.ts'
import { listOurIssues, type OurIssue, readOurIssue } from '../../src/github/issues/our-issues.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { inTurns } from './in-turns.ts'

/** A verified record, and the issue that holds it. */
interface FoundRecord {
  readonly record: DesignationRecord
  readonly issue: number
}

/** The records of an installation in all its repositories: author, seal, installation and place are verified. */
export async function findRecords(
  context: WorkerContext,
  installation: number,
  octokit: Octokit,
  repositories: readonly ReadableRepository[],
): Promise<FoundRecord[]> {
  const app = await context.app.identity()
  const found = await inTurns(repositories, async repository => {
    const issues = (await listOurIssues(octokit, app, nameOf(repository))) ?? []
    return issues.flatMap(issue => {
      const record = recordIn(context, installation, repository, issue)
      return record ? [{ record, issue: issue.number }] : []
    })
  })
  return found.flat()
}

/** The record in one issue as it is now; undefined where it is gone, changed by someone else, or of another place. */
export async function verifyRecord(
  context: WorkerContext,
  installation: number,
  octokit: Octokit,
  repository: ReadableRepository,
  number: number,
): Promise<DesignationRecord | undefined> {
  const app: AppIdentity = await context.app.identity()
  const issue = await readOurIssue(octokit, app, nameOf(repository), number)
  return issue && recordIn(context, installation, repository, issue)
}

function recordIn(
  { config }: WorkerContext,
  installation: number,
  { id }: ReadableRepository,
  { body }: OurIssue,
): DesignationRecord | undefined {
  const record = readDesignationMarker(body, config.privateKey)
  return record?.installation === installation && record.at === id ? record : undefined
}

const nameOf = ({ owner, name }: ReadableRepository) => ({ owner, repo: name })
