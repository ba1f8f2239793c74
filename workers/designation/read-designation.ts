import { type Candidate, designate, newestRecord } from '../../src/designation/designate.ts'
import type { DesignationRecord, FleetChoice } from '../../src/designation/designation-record.ts'
import type { Octokit } from '../../src/github/client/octokit.ts'
import type { DesignatedFleets } from '../context/designated-fleets.ts'
import { changesKey } from '../context/designation-memory.ts'
import type { Installation } from '../context/installation.ts'
import type { FleetPlace, ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { findCandidates } from './find-candidates.ts'
import { findRecords, verifyRecord } from './find-records.ts'
import { operatorChoices } from './operator-choices.ts'
import { readOrganizationFile } from './organization-file.ts'

/**
 * Which repositories of an installation evaluate others. Where the operator says so, nothing is asked; else a record that
 * was found before is read and verified. Only without one are all repositories asked. Throws `github-unavailable`.
 */
export async function readDesignation(
  context: WorkerContext,
  installation: Installation,
  octokit: Octokit,
): Promise<DesignatedFleets> {
  const repositories = await installation.repositories()
  const readable = new Set(repositories.map(({ id }) => id))
  const operator = await operatorChoices(context, repositories, octokit)
  if (operator.length > 0) {
    const facts = { operator, organization: { state: 'absent' as const }, records: [], readable, candidates: [] }
    return resolved(designate(facts), repositories, undefined)
  }
  const organization = await readOrganizationFile(installation)
  const { records, candidates } = await known(context, installation, octokit, repositories)
  const facts = { operator, organization, records, readable, candidates }
  const first = designate(facts)
  const record = newestRecord(records)
  const sealed = record === 'conflict' ? undefined : record
  if (first.state !== 'needs-candidates') return resolved(first, repositories, sealed)
  const found = await findCandidates(context, installation, octokit, repositories)
  const changes = await context.queue.entries(changesKey(installation.id))
  context.designations.note(installation.id, changes, { candidates: found })
  return resolved(designate({ ...facts, candidates: found }), repositories, undefined)
}

interface Known {
  readonly records: readonly DesignationRecord[]
  readonly candidates: readonly Candidate[] | undefined
}

/** The records of an installation: the one that was found last as it is now, else whatever the repositories hold. */
async function known(
  context: WorkerContext,
  installation: Installation,
  octokit: Octokit,
  repositories: readonly ReadableRepository[],
): Promise<Known> {
  const changes = await context.queue.entries(changesKey(installation.id))
  const last = context.designations.recall(installation.id, changes)
  if (last && 'candidates' in last) return { records: [], candidates: last.candidates }
  const repository = last && repositories.find(({ id }) => id === last.repository)
  const same = repository && (await verifyRecord(context, installation.id, octokit, repository, last.issue))
  if (same) return { records: [same], candidates: undefined }
  const found = await findRecords(context, installation.id, octokit, repositories)
  const newest = newestRecord(found.map(({ record }) => record))
  const at = found.find(({ record }) => record === newest)
  if (at) context.designations.note(installation.id, changes, { repository: at.record.at, issue: at.issue })
  return { records: found.map(({ record }) => record), candidates: undefined }
}

function resolved(
  designation: ReturnType<typeof designate>,
  repositories: readonly ReadableRepository[],
  record: DesignationRecord | undefined,
): DesignatedFleets {
  if (designation.state === 'needs-candidates') throw new TypeError('a designation was not decided')
  const fleets = designation.state === 'designated' ? designation.fleets.flatMap(one => placeOf(one, repositories)) : []
  return { designation, fleets, record }
}

function placeOf({ repository: wanted, branch }: FleetChoice, all: readonly ReadableRepository[]): FleetPlace[] {
  const repository = all.find(({ id }) => id === wanted)
  return repository ? [{ repository, branch: branch ?? repository.defaultBranch }] : []
}
