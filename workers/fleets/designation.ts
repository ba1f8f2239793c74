import { BailiwickError } from '../../src/base/errors.ts'
import { readFleetFile } from '../../src/fleet/config/fleet-file.ts'
import { rootsOf } from '../../src/fleet/graph/build-fleet.ts'
import { openSnapshot } from '../../src/git/tree.ts'
import { hasPath, type Repository, readRepository } from '../../src/github/contents/repositories.ts'
import {
  DESIGNATION_FILE,
  type DesignationRecord,
  designate,
  type FleetChoice,
  newestRecord,
  ORGANIZATION_REPOSITORY,
  type OrganizationFile,
  readDesignationFile,
  readDesignationMarker,
  type UndecidedReason,
} from '../../src/github/designate.ts'
import { type FleetName, isOfAccount, namesRepository } from '../../src/github/fleet-name.ts'
import { listOurIssues, type OurIssue, readOurIssue } from '../../src/github/issues.ts'
import { isPassing } from '../job-error.ts'
import {
  changesKey,
  type DesignatedFleets,
  type FleetPlace,
  type Installation,
  type WorkerContext,
} from './worker-context.ts'

/**
 * Which repositories of an installation evaluate others. If the operator decides, no request is made; else a record
 * that was found before is read and verified. Without one, all repositories are searched. Throws `github-unavailable`.
 */
export async function readDesignation(context: WorkerContext, installation: Installation): Promise<DesignatedFleets> {
  const repositories = await installation.repositories()
  const readable = new Set(repositories.map(({ id }) => id))
  const operator = await operatorChoices(context, installation)
  if (operator.length > 0) {
    const facts = { operator, organization: { state: 'absent' as const }, records: [], readable, candidates: [] }
    return resolved(designate(facts), repositories, undefined)
  }
  const organization = await readOrganizationFile(installation)
  const { records, candidates } = await known(context, installation)
  const facts = { operator, organization, records, readable, candidates }
  const first = designate(facts)
  const record = newestRecord(records)
  const sealed = record === 'conflict' ? undefined : record
  if (first.state !== 'needs-candidates') return resolved(first, repositories, sealed)
  const found = await findCandidates(context, installation)
  const changes = await context.queue.entries(changesKey(installation.id))
  context.designations.note(installation.id, changes, { candidates: found })
  if (context.memory.isNew(`designation of ${installation.id}`, found.join())) {
    const { owner } = repositories[0] ?? {}
    context.log.warn({ installation: installation.id, owner, candidates: found.length }, 'no fleet is designated')
  }
  return resolved(designate({ ...facts, candidates: found }), repositories, undefined)
}

interface Known {
  readonly records: readonly DesignationRecord[]
  readonly candidates: readonly number[] | undefined
}

/** The records of an installation: the one that was found last, read again, else those in all repositories. */
async function known(context: WorkerContext, installation: Installation): Promise<Known> {
  const changes = await context.queue.entries(changesKey(installation.id))
  const last = context.designations.recall(installation.id, changes)
  if (last && 'candidates' in last) return { records: [], candidates: last.candidates }
  const repository = last && (await installation.repositories()).find(({ id }) => id === last.repository)
  const same = repository && (await verifyRecord(context, installation, repository, last.issue))
  if (same) return { records: [same], candidates: undefined }
  const found = await findRecords(context, installation)
  const newest = newestRecord(found.map(({ record }) => record))
  const at = found.find(({ record }) => record === newest)
  if (at) context.designations.note(installation.id, changes, { repository: at.record.at, issue: at.issue })
  return { records: found.map(({ record }) => record), candidates: undefined }
}

function resolved(
  designation: ReturnType<typeof designate>,
  repositories: readonly Repository[],
  record: DesignationRecord | undefined,
): DesignatedFleets {
  if (designation.state === 'needs-candidates') throw new TypeError('a designation was not decided')
  const fleets = designation.state === 'designated' ? designation.fleets.flatMap(one => placeOf(one, repositories)) : []
  return { designation, fleets, record }
}

function placeOf({ repository: wanted, branch }: FleetChoice, all: readonly Repository[]): FleetPlace[] {
  const repository = all.find(({ id }) => id === wanted)
  return repository ? [{ repository, branch: branch ?? repository.defaultBranch }] : []
}

/** No repository is named, because readers may not know of them. */
const WHY: Readonly<Record<UndecidedReason, { readonly what: string; readonly fix: string }>> = {
  undesignated: {
    what: 'no repository is designated as the fleet',
    fix: 'An owner of the organization comments /bailiwick designate on an issue or pull request of the fleet repository.',
  },
  'unreadable-file': {
    what: 'bailiwick.yaml in the .github repository of this organization cannot be followed',
    fix: 'Correct the file: list repositories that the App can read under the key fleets.',
  },
  unreachable: {
    what: 'a designated fleet cannot be read by the App',
    fix: 'Install the App on the repository of the fleet. Or have the operator or an owner of the organization designate another one.',
  },
  conflict: {
    what: 'two records of the designated fleet contradict each other',
    fix: 'Comment /bailiwick designate in the repository that is the fleet, as an owner of the organization.',
  },
}

/** Throws `fleet-undesignated` while no repository is designated as the fleet: nothing may pass meanwhile. */
export async function assertDesignated(installation: Pick<Installation, 'designation'>): Promise<void> {
  const { designation } = await installation.designation()
  if (designation.state !== 'undecided') return
  const { what, fix } = WHY[designation.reason]
  throw new BailiwickError('fleet-undesignated', `No fleet evaluates this change: ${what}`, { fix })
}

/**
 * What the organization's own `.github` repository designates. Absent if the App is not installed on it, or it has no
 * such file; unreadable if the file cannot be followed. Throws `github-unavailable`.
 */
export async function readOrganizationFile(installation: Installation): Promise<OrganizationFile> {
  const repositories = await installation.repositories()
  const organization = repositories.find(({ repo }) => repo.toLowerCase() === ORGANIZATION_REPOSITORY)
  if (!organization) return { state: 'absent' }
  try {
    const bytes = await installation.file(organization, DESIGNATION_FILE)
    if (!bytes) return { state: 'absent' }
    const names = readDesignationFile(organization.url, bytes)
    const fleets = names.map(name => {
      const repository = repositories.find(({ url }) => namesRepository(name, url))
      if (!repository) throw unknown(name.repository)
      return { repository: repository.id, ...(name.branch === undefined ? {} : { branch: name.branch }) }
    })
    return { state: 'present', fleets }
  } catch (error) {
    if (!(error instanceof BailiwickError) || ['github-unavailable', 'internal'].includes(error.code)) throw error
    return { state: 'unreadable', why: error.message }
  }
}

function unknown(repository: string): BailiwickError {
  return new BailiwickError(
    'config',
    `${DESIGNATION_FILE} names ${JSON.stringify(repository)}, which the App cannot read`,
  )
}

/**
 * What the operator's file and FLEETS name for the account of an installation; undefined in it for a repository that
 * the App cannot read. Empty: the operator names none for this account.
 */
export async function operatorChoices(
  { bindings, config }: Pick<WorkerContext, 'bindings' | 'config'>,
  installation: Installation,
): Promise<(FleetChoice | undefined)[]> {
  const [first] = await installation.repositories()
  if (!first) return []
  const account = first.url.slice(0, first.url.lastIndexOf('/'))
  const bound = bindings.map(({ fleet, branch }): FleetName => ({ repository: fleet, branch }))
  const named = [...bound, ...config.fleets].filter(name => isOfAccount(name, account))
  const choices = await Promise.all(named.map(name => choiceOf(name, installation)))
  return [...new Map(choices.map(choice => [JSON.stringify(choice), choice])).values()]
}

/** By its address, or by GitHub's redirect from an earlier address. */
async function choiceOf(name: FleetName, installation: Installation): Promise<FleetChoice | undefined> {
  const repositories = await installation.repositories()
  const found = repositories.find(({ url }) => namesRepository(name, url)) ?? (await moved(name, installation))
  if (!found) return undefined
  const branch = name.branch ?? found.defaultBranch
  return { repository: found.id, branch }
}

async function moved({ repository }: FleetName, { octokit, repositories }: Installation) {
  const [owner = '', repo = '', more] = repository.replace(/^https:\/\/[^/]+\//, '').split('/')
  if (more !== undefined || owner === '' || repo === '') return undefined
  const present = await readRepository({ octokit, owner, repo })
  return (await repositories()).find(({ id }) => id === present?.id)
}

/** A verified record, and the issue that holds it. */
interface FoundRecord {
  readonly record: DesignationRecord
  readonly issue: number
}

/** The records of an installation in all its repositories: author, seal, installation and place are verified. */
export async function findRecords(context: WorkerContext, installation: Installation): Promise<FoundRecord[]> {
  const { id, octokit } = installation
  const app = await context.app.identity()
  const found = await inTurns(await installation.repositories(), async repository => {
    const issues = (await listOurIssues({ ...repository, octokit, app })) ?? []
    return issues.flatMap(issue => {
      const record = recordIn(context, id, repository, issue)
      return record ? [{ record, issue: issue.number }] : []
    })
  })
  return found.flat()
}

/** The record in one issue as it is now; undefined if it is gone, changed by someone else, or of another place. */
async function verifyRecord(
  context: WorkerContext,
  { id, octokit }: Installation,
  repository: Repository,
  number: number,
): Promise<DesignationRecord | undefined> {
  const app = await context.app.identity()
  const issue = await readOurIssue({ ...repository, octokit, app }, number)
  return issue && recordIn(context, id, repository, issue)
}

function recordIn(
  { config }: WorkerContext,
  installation: number,
  { id }: Repository,
  { body }: OurIssue,
): DesignationRecord | undefined {
  const record = readDesignationMarker(body, config.privateKey)
  return record?.installation === installation && record.at === id ? record : undefined
}

/** Names of files that may start a cluster, in any layout: of a repository with one, all files are read. Not those of every app. */
const OF_FLUX = /(?:flux|gotk|cluster|sync|instance).*\.ya?ml$|^\.github\/bailiwick\.yaml$/i

/**
 * Whether a repository looks like a fleet: it has a `clusters` directory, or a cluster starts in it, wherever its files
 * are. One that cannot be read may be one.
 */
export async function looksLikeFleet(
  { memory }: WorkerContext,
  installation: Installation,
  repository: Repository,
): Promise<boolean> {
  if (await installation.isFleet(repository)) return true
  const commit = await installation.head(repository, { branch: repository.defaultBranch })
  if (commit === undefined) return false
  const ask = () => hasPath({ ...repository, octokit: installation.octokit }, commit, OF_FLUX)
  try {
    if (!(await memory.recallAt(repository, commit, 'paths of Flux', ask))) return false
    return (await holdsRoot(installation, repository)) !== false
  } catch (error) {
    // what cannot be read must not keep other repositories from their verdicts
    if (isPassing(error)) throw error
    return true
  }
}

/**
 * Whether the merged content says that a cluster starts in it; an assumed one does not count. An artifact with assumed
 * content counts here: the repository is then evaluated by itself, and reads nothing else.
 */
export async function holdsRoot(installation: Installation, repository: Repository): Promise<boolean | BailiwickError> {
  const { url, defaultBranch: branch } = repository
  const commit = await installation.head(repository, { branch })
  if (commit === undefined) return false
  const snapshot = await installation.content(repository, commit).catch(tooLarge)
  if (snapshot instanceof BailiwickError) return snapshot
  const tree = openSnapshot(snapshot)
  const { roots } = rootsOf({ fleet: { url, branch, commit, tree } }, readFleetFile(tree, url))
  return roots.some(({ how }) => how !== 'assumed')
}

/** The error of a fleet that is too large to be evaluated. */
function tooLarge(error: unknown): BailiwickError {
  if (!(error instanceof BailiwickError && error.code === 'render-limits')) throw error
  const what = `It is unknown whether this repository contains a cluster: ${error.message}`
  return new BailiwickError('render-limits', what, {
    fix: 'Have an owner of the organization designate the repository of the fleet, or remove the App from this one.',
    cause: error,
  })
}

/** The repositories that look like a fleet. */
async function findCandidates(context: WorkerContext, installation: Installation): Promise<number[]> {
  const repositories = (await installation.repositories()).filter(({ archived }) => !archived)
  const looksLikeOne = await inTurns(repositories, repository => looksLikeFleet(context, installation, repository))
  return repositories.flatMap(({ id }, index) => (looksLikeOne[index] ? id : []))
}

const AT_ONCE = 8

/** Asks about each item, some at a time, with the answers in order: GitHub limits concurrent requests. */
async function inTurns<T, R>(items: readonly T[], ask: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = []
  for (let start = 0; start < items.length; start += AT_ONCE) {
    answers.push(...(await Promise.all(items.slice(start, start + AT_ONCE).map(ask))))
  }
  return answers
}
