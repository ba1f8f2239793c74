import {
  type DesignationRecord,
  designationMarker,
  withDesignationMarker,
} from '../../src/designation/designation-record.ts'
import { listOurIssues } from '../../src/github/issues/our-issues.ts'
import { upsertIssue } from '../../src/github/issues/upsert-issue.ts'
import { REPORT_MARKER, REPORT_TITLE } from '../../src/report/first-report/first-report.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { openWriteClient } from '../publish/open-write-client.ts'

const BEGUN = 'Bailiwick is evaluating this fleet. This report updates automatically.'

/** Puts a record into the first report of a repository, which is made where there is none. False: it has no issues. */
export async function writeRecord(
  context: WorkerContext,
  repository: ReadableRepository,
  record: Omit<DesignationRecord, 'at'>,
): Promise<boolean> {
  const { octokit, app } = await openWriteClient(context, record.installation, repository.id)
  const name = { owner: repository.owner, repo: repository.name }
  const seal = designationMarker({ ...record, at: repository.id }, context.config.privateKey)
  const present = (await listOurIssues(octokit, app, name))?.find(({ body }) => body.startsWith(`${REPORT_MARKER}\n`))
  const body = withDesignationMarker(present?.body ?? `${REPORT_MARKER}\n\n${BEGUN}`, seal)
  const written = await upsertIssue(octokit, app, name, { marker: REPORT_MARKER, title: REPORT_TITLE, body })
  return written !== undefined
}
