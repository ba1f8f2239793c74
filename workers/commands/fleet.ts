import { BailiwickError } from '../../src/base/errors.ts'
import { codeWord, fixOf, message, typedMessage } from '../../src/base/message.ts'
import { FLEET_FILE } from '../../src/fleet/model/fleet-config.ts'
import type { TreeSnapshot } from '../../src/git/tree.ts'
import type { RepositoryName } from '../../src/github/client/octokit.ts'
import { type ListedDeployKey, listDeployKeys } from '../../src/github/deploy-keys.ts'
import {
  confirmDesignation,
  type DesignationRecord,
  designationMarker,
  withDesignationMarker,
} from '../../src/github/designate.ts'
import { listOurIssues, upsertIssue } from '../../src/github/issues.ts'
import { isAccountOwner, readRole } from '../../src/github/people.ts'
import { releaseBranches, setRuleset } from '../../src/github/protection.ts'
import { listOpenPullRequests } from '../../src/github/pull-request.ts'
import { REPORT_MARKER, REPORT_TITLE } from '../../src/report/first-report.ts'
import type { BranchGate } from '../../src/report/first-report-sections.ts'
import { type CredentialGroup, credentialsPageOf } from '../../src/report/page/credentials-page.ts'
import { type GateSetting, gateAnswer } from '../../src/surface/command/answer-text.ts'
import { commandError } from '../../src/surface/command/command-line.ts'
import { enforcementText, withEnforcement } from '../../src/surface/command/fleet-file.ts'
import { credentialsPath } from '../../src/surface/pages/page-address.ts'
import {
  type CredentialEntry,
  credentialEntries,
  credentialsText,
  ENTRY_TITLES,
  type KnownKeys,
} from '../../src/tenants/credential-entries.ts'
import type { CredentialReport } from '../../src/tenants/credential-report.ts'
import { RULESET_NAME, wantedRuleset } from '../../src/verdict/branch-ruleset.ts'
import { CHECK_NAME } from '../../src/verdict/check-names.ts'
import { findRecords, operatorChoices, readOrganizationFile } from '../fleets/designation.ts'
import { evaluateRevisionSet } from '../fleets/evaluate-revision-set.ts'
import { findRepository, readFleetFileText, SourceReader } from '../fleets/source-reader.ts'
import { changesKey, type Installation, type ReadableRepository, type WorkerContext } from '../fleets/worker-context.ts'
import { openWriteClient } from '../gate/publish-verdict.ts'
import { openRecordedPull } from '../gate/record-decision.ts'
import { readGates, surveyOf } from '../gate/survey-place.ts'
import { isPassing } from '../job-error.ts'
import { type BailiwickCommand, type CommandContext, decidesHere, fleetsHere } from './command-context.ts'

/** Requires the check on every branch that clusters follow, in the repositories that the person administers. */
export const gate: BailiwickCommand = {
  name: 'gate',
  decision: 'gate',
  usage: 'gate',
  summary: `on the fleet: require ${CHECK_NAME} of this App on every branch that clusters follow, where you are an admin`,
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'The gate cannot be set',
  run: async command => {
    const settings: GateSetting[] = []
    for (const [url, gates] of Map.groupBy(await gatesOf(command), one => one.url)) {
      settings.push(await set(command, url, gates))
    }
    await command.context.queue.add('survey', { installation: command.data.installation })
    const reply = gateAnswer(settings)
    return { reaction: 'rocket', ...(reply === undefined ? {} : { reply }) }
  },
}

/** Every branch that must be gated for the fleets of this repository, as GitHub protects it now. */
async function gatesOf(command: CommandContext): Promise<BranchGate[]> {
  const { context, installation, place, reader } = command
  const { evaluator, disabledRules } = context
  const desk = {
    app: place.app,
    reader,
    rulesets: await context.app.client(installation.id),
  }
  const all: BranchGate[] = []
  for (const fleet of await fleetsHere(command)) {
    const evaluated = await evaluateRevisionSet(evaluator, new SourceReader(installation), { fleet, disabledRules })
    const { gated } = await surveyOf(context, installation, { fleet, evaluated })
    const known = new Set(all.map(({ url, branch }) => JSON.stringify([url, branch])))
    const more = gated.filter(({ url, branch }) => !known.has(JSON.stringify([url, branch])))
    all.push(...(await readGates(desk, installation, more)))
  }
  return all
}

/** Sets one ruleset per repository, and only for a person who could set it on GitHub themselves. */
async function set(command: CommandContext, url: string, gates: readonly BranchGate[]): Promise<GateSetting> {
  const { context, place, reader, installation, comment } = command
  const open = gates.filter(({ gate }) => gate?.state !== 'real' || gate.asks !== undefined)
  const seen = gates.filter(({ gate }) => gate !== undefined).map(({ branch }) => branch)
  if (open.length === 0) return { url, branches: seen, outcome: 'real' }
  const repository = await findRepository(installation, { url })
  const byCheck = Map.groupBy(
    gates.filter(({ gate }) => gate !== undefined),
    ({ check = CHECK_NAME }) => check,
  )
  const rulesets = [...byCheck].map(([name, of]) =>
    wantedRuleset(
      of.map(({ branch }) => branch),
      { name, app: place.app.id },
    ),
  )
  const [ruleset] = rulesets
  if (!repository || !ruleset || rulesets.includes(undefined) || open.every(({ gate }) => gate === undefined)) {
    return { url, branches: open.map(({ branch }) => branch), outcome: 'unread' }
  }
  const name = { owner: repository.owner, repo: repository.name }
  if ((await readRole(reader, name, comment.author.login)) !== 'admin') {
    return { url, branches: seen, outcome: 'role' }
  }
  try {
    const { octokit } = await openWriteClient(context, installation.id, repository.id)
    for (const one of rulesets) if (one) await setRuleset(octokit, name, one)
    // an earlier version required the plain check name on them
    const others = gates.filter(({ check }) => check !== undefined && check !== CHECK_NAME)
    await releaseBranches(
      octokit,
      name,
      RULESET_NAME,
      others.map(({ branch }) => branch),
    )
    return { url, branches: seen, outcome: 'set' }
  } catch (error) {
    if (!(error instanceof BailiwickError) || error.code !== 'not-permitted') throw error
    return { url, branches: seen, outcome: 'refused', ruleset }
  }
}

const USAGE = 'enforcement report|block'

/** Switches between reporting and blocking violations, by a pull request; merging it is the decision. */
export const enforcement: BailiwickCommand = {
  name: 'enforcement',
  decision: 'enforcement',
  usage: USAGE,
  summary:
    'on the fleet: open a pull request that reports violations without blocking, or blocks them again (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'The enforcement cannot be changed',
  run: async command => {
    const { line, place, installation, comment } = command
    const [wanted, more] = line.words
    if (more !== undefined || (wanted !== 'report' && wanted !== 'block')) {
      throw commandError(
        'the argument is neither report nor block',
        message`Write: ${codeWord('/bailiwick enforcement report')} or ${codeWord('/bailiwick enforcement block')}`,
      )
    }
    const name = { owner: place.owner, repo: place.repo }
    const text = enforcementText(wanted, comment.author.login, comment.issue.number)
    for (const fleet of await fleetsHere(command)) {
      const { commit, text: before } = await readFleetFileText(installation, fleet)
      await openRecordedPull(
        {
          context: command.context,
          app: place.app,
          fleet: { installation: installation.id, url: fleet.repository.url },
        },
        place.octokit,
        name,
        {
          base: fleet.branch,
          // a merged branch may still exist, so every fleet commit gets a branch of its own
          branch: `bailiwick/enforcement-${wanted}-${commit.slice(0, 10)}`,
          files: [{ path: FLEET_FILE, content: withEnforcement(before, wanted) }],
          ...text,
          message: text.title,
        },
      )
    }
    return { reaction: 'rocket' }
  },
}

/** Delay between the evaluations of open pull requests after a change of the fleet. */
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
    // counted again after the write, so that jobs that read meanwhile read again
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

/** If a copy cannot be written, an older record stays in it: the newer one counts. */
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

const BEGUN = 'Bailiwick is evaluating this fleet. This report updates automatically.'

/** Writes a record into the first report of a repository, and creates that if missing. False: it has no issues. */
async function writeRecord(
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

/** Repositories whose keys are listed: those that tenants read first. */
const MAX_REPOSITORIES = 200

/** Lists the credentials of the tenants: those in git, and the deploy keys that GitHub shows. */
export const credentials: BailiwickCommand = {
  name: 'credentials',
  decision: 'none',
  usage: 'credentials',
  summary:
    'list deploy keys without a tenant, tenants without a key, their age, and who can open sealed files (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'The credentials cannot be listed',
  run: async command => {
    const { context, installation, repository: fleet, place, today } = command
    const { report, commit } = await readCredentials({ context, installation, fleet })
    const entries = credentialEntries(report, await knownKeys(command, report), today)
    const address = await keepCredentialsPage(context, { owner: place.owner, repo: place.repo, fleet, commit }, entries)
    const page =
      address === undefined
        ? ''
        : `\n\n[All of them, with filters](${address}), for maintainers and admins of this repository.`
    return { reaction: 'rocket', reply: `${credentialsText(entries)}${page}` }
  },
}

async function knownKeys(command: CommandContext, { sources }: CredentialReport): Promise<KnownKeys> {
  const { installation, reader, place } = command
  const read = new Set(sources.map(({ url }) => url))
  const all = [...(await installation.repositories())].sort((a, b) => Number(read.has(b.url)) - Number(read.has(a.url)))
  const repositories = new Map<string, readonly ListedDeployKey[]>()
  const notVisible: string[] = []
  for (const { owner, name: repo, url } of all.slice(0, MAX_REPOSITORIES)) {
    try {
      repositories.set(url, await listDeployKeys(reader, { owner, repo }))
    } catch (error) {
      if (!(error instanceof BailiwickError) || (error.code !== 'not-permitted' && error.code !== 'git-missing'))
        throw error
      // the name of a repository that no tenant reads is not shown here
      if (!read.has(url)) notVisible.push('deploy keys of a repository that no tenant reads: the App may not list them')
    }
  }
  if (all.length > MAX_REPOSITORIES) {
    notVisible.push(
      `deploy keys of ${all.length - MAX_REPOSITORIES} more repositories: only ${MAX_REPOSITORIES} are listed`,
    )
  }
  return { fleet: `${place.owner}/${place.repo}`, repositories, notVisible: [...new Set(notVisible)] }
}

/** The credentials on the default branch of a fleet. Throws `onboard-layout` for an empty repository. */
async function readCredentials({
  context,
  installation,
  fleet,
}: {
  readonly context: WorkerContext
  readonly installation: Installation
  readonly fleet: ReadableRepository
}): Promise<{
  readonly report: CredentialReport
  readonly snapshot: TreeSnapshot
  readonly commit: string
}> {
  const branch = fleet.defaultBranch
  const commit = await installation.head(fleet, { branch })
  if (!commit) throw new BailiwickError('onboard-layout', 'this repository is empty, so there is no fleet')
  const snapshot = await installation.content(fleet, commit)
  const answer = await context.evaluator.evaluate({ type: 'credentials', tree: snapshot, url: fleet.url, branch })
  if (answer.type === 'refused') throw new BailiwickError(answer.code, typedMessage(answer), { fix: fixOf(answer) })
  if (answer.type !== 'credentials') {
    throw new TypeError(`the rendering thread answered ${answer.type} to a question for credentials`)
  }
  return { report: answer.report, snapshot, commit }
}

/** The fleet whose credentials are listed, and the commit of its branch. */
interface ListedFleet extends RepositoryName {
  readonly fleet: ReadableRepository
  readonly commit: string
}

const TONES: Readonly<Record<CredentialEntry['kind'], CredentialGroup['tone']>> = {
  'in-clear': 'bad',
  'key-of-no-tenant': 'bad',
  'writable-key': 'bad',
  'tenant-without-key': 'bad',
  'several-keys': 'bad',
  'other-recipients': 'bad',
  key: 'good',
  'not-visible': 'note',
}

/** Stores the page of a fleet's credentials and returns its address; undefined if pages are off or it failed. */
async function keepCredentialsPage(
  { pages: { store, publicUrl }, log }: WorkerContext,
  { owner, repo, fleet, commit }: ListedFleet,
  entries: readonly CredentialEntry[],
): Promise<string | undefined> {
  if (publicUrl === undefined) return undefined
  const groups = (Object.keys(ENTRY_TITLES) as CredentialEntry['kind'][]).map(kind => ({
    ...{ kind, title: ENTRY_TITLES[kind], tone: TONES[kind] },
    rows: entries.filter(one => one.kind === kind).map(({ kind: _kind, ...row }) => row),
  }))
  const place = { owner, repo, repositoryId: fleet.id, visibility: fleet.visibility, at: new Date().toISOString() }
  const page = credentialsPageOf({ ...place, repository: fleet.url, commit, groups })
  const kept = await store.keep(page).catch(err => {
    log.warn({ err }, 'page could not be stored')
    return false
  })
  return kept ? `${publicUrl}${credentialsPath(owner, repo)}` : undefined
}
