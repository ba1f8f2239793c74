import { commandError } from '../../src/command/command-error.ts'
import { confirmDesignation } from '../../src/designation/confirm-designation.ts'
import type { DesignationRecord } from '../../src/designation/designation-record.ts'
import { isAccountOwner } from '../../src/github/people/organization-owner.ts'
import { listOpenPullRequests } from '../../src/github/pulls/pull-request.ts'
import { changesKey } from '../context/designation-memory.ts'
import { findRecords } from '../designation/find-records.ts'
import { operatorChoices } from '../designation/operator-choices.ts'
import { readOrganizationFile } from '../designation/organization-file.ts'
import { writeRecord } from '../designation/write-record.ts'
import { isPassing } from '../job-error.ts'
import type { BailiwickCommand, CommandContext } from './command-context.ts'

/** A change of the fleet has every open pull request evaluated again: they start this far apart. */
const SPREAD_MS = 300
const LATEST_MS = 600_000

/**
 * Designates a repository as the fleet, if GitHub confirms now that the person is an owner of the account. The record
 * is sealed and stored in the first reports of all fleets, old and new.
 */
export const designate: BailiwickCommand = {
  name: 'designate',
  decision: 'designation',
  usage: 'designate',
  summary: 'make this repository the fleet, or confirm what the .github repository lists (owners of the organization)',
  where: 'anywhere',
  slow: true,
  may: ({ reader, data, comment }) => isAccountOwner(reader, data.owner, comment.author.login),
  refusal: 'This repository cannot be designated',
  run: async command => {
    const { context, installation } = command
    const key = changesKey(installation.id)
    await context.queue.withLock(key, () => change(command))
    // counted once more now that it is written: who read meanwhile reads again
    await context.queue.withLock(key, async () => context.designations.forget(installation.id))
    await context.queue.add('survey', { installation: installation.id })
    await context.queue.add('sweep-installation', { installation: installation.id })
    await evaluateAgain(command)
    return { reaction: 'rocket' }
  },
}

async function change({ context, installation, reader, repository }: CommandContext): Promise<void> {
  const repositories = await installation.repositories()
  const [operator, organization, found] = await Promise.all([
    operatorChoices(context, repositories, reader),
    readOrganizationFile(installation),
    findRecords(context, installation.id, reader, repositories),
  ])
  const records = found.map(({ record }) => record)
  const record = confirmDesignation({ operator, organization, records }, installation.id, repository.id)
  if ('why' in record) throw commandError(record.why, record.fix)
  if (!(await writeRecord(context, repository, record))) {
    const fix = 'Enable issues in the settings of this repository, then repeat this command.'
    throw commandError('the designation is kept in an issue of this repository, and its issues are disabled', fix)
  }
  const elsewhere = new Set([...record.fleets.map(fleet => fleet.repository), ...records.map(({ at }) => at)])
  elsewhere.delete(repository.id)
  for (const other of repositories.filter(({ id }) => elsewhere.has(id))) await copyTo(context, other, record)
}

/** A copy that cannot be written is one that an older record stays in: the newer one counts. */
async function copyTo(
  context: CommandContext['context'],
  other: Parameters<typeof writeRecord>[1],
  record: Omit<DesignationRecord, 'at'>,
): Promise<void> {
  try {
    await writeRecord(context, other, record)
  } catch (error) {
    if (isPassing(error)) throw error
    context.log.warn({ err: error, repository: other.url }, 'designation could not be written to a first report')
  }
}

async function evaluateAgain({ context, installation, reader }: CommandContext): Promise<void> {
  let index = 0
  for (const { owner, name: repo, archived } of await installation.repositories()) {
    if (archived) continue
    for (const { number: pull } of await listOpenPullRequests(reader, { owner, repo })) {
      const data = { installation: installation.id, owner, repo, pull }
      await context.queue.add('validate-pull-request', data, { delayMs: Math.min(index++ * SPREAD_MS, LATEST_MS) })
    }
  }
}
