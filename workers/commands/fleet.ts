import { BailiwickError } from '../../src/base/errors.ts'
import { codeWord, message } from '../../src/base/message.ts'
import { FLEET_FILE } from '../../src/fleet/model/fleet-config.ts'
import type { Repository } from '../../src/github/contents/repositories.ts'
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
import { untilText } from '../../src/report/text/decisions.ts'
import { type GateSetting, gateAnswer, gateOffAnswer } from '../../src/surface/command/answer-text.ts'
import { commandError, parseReason } from '../../src/surface/command/command-line.ts'
import { enforcementText, withEnforcement } from '../../src/surface/command/fleet-file.ts'
import { RULESET_NAME, rulesetNameOf, wantedRuleset } from '../../src/verdict/branch-ruleset.ts'
import { CHECK_NAME, checkNameOf } from '../../src/verdict/check-names.ts'
import { findRecords, operatorChoices, readOrganizationFile } from '../fleets/designation.ts'
import { evaluateRevisionSet } from '../fleets/evaluate-revision-set.ts'
import { openWriter } from '../fleets/github-installation.ts'
import { findRepository, readFleetFileText, SourceReader } from '../fleets/source-reader.ts'
import { changesKey, type WorkerContext } from '../fleets/worker-context.ts'
import { openRecordedPull } from '../gate/record-decision.ts'
import { evaluateSpread, sweepAfterPause } from '../gate/settle.ts'
import { readGates, surveyOf } from '../gate/survey-place.ts'
import { isPassing } from '../job-error.ts'
import { type BailiwickCommand, type CommandContext, decidesHere, fleetsHere } from './command-context.ts'

const GATE_USAGE = 'gate [off]'

/** Requires the check on every branch that clusters follow, in the repositories that the person administers; `off` takes that back. */
export const gate: BailiwickCommand = {
  name: 'gate',
  decision: 'gate',
  usage: GATE_USAGE,
  summary: `on the fleet: require ${CHECK_NAME} of this App on every branch that clusters follow, where you are an admin; off: removes these rulesets`,
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'The gate cannot be set',
  run: async command => {
    const [word, more] = command.line.words
    if (more !== undefined || (word !== undefined && word !== 'off'))
      throw commandError('the only argument is `off`', message`Write: ${codeWord(`/bailiwick ${GATE_USAGE}`)}`)
    const change = word === 'off' ? release : set
    const settings: GateSetting[] = []
    for (const [url, gates] of Map.groupBy(await gatesOf(command), one => one.url)) {
      settings.push(await change(command, url, gates))
    }
    await command.context.queue.add('survey', { installation: command.data.installation })
    const reply = word === 'off' ? gateOffAnswer(settings) : gateAnswer(settings)
    return { reaction: 'rocket', ...(reply === undefined ? {} : { reply }) }
  },
}

/** Every branch that must be gated for the fleets of this repository, as GitHub protects it now. */
async function gatesOf(command: CommandContext): Promise<BranchGate[]> {
  const { context, installation, app } = command
  const { evaluator, disabledRules } = context
  const desk = { app, installation, rulesets: await context.app.client(installation.id) }
  const all: BranchGate[] = []
  for (const fleet of await fleetsHere(command)) {
    const evaluated = await evaluateRevisionSet(evaluator, new SourceReader(installation), { fleet, disabledRules })
    const { gated } = await surveyOf(context, installation, { fleet, evaluated })
    const known = new Set(all.map(({ url, branch }) => JSON.stringify([url, branch])))
    const more = gated.filter(({ url, branch }) => !known.has(JSON.stringify([url, branch])))
    all.push(...(await readGates(desk, more)))
  }
  return all
}

/** Sets one ruleset per repository, and only for a person who could set it on GitHub themselves. */
async function set(command: CommandContext, url: string, gates: readonly BranchGate[]): Promise<GateSetting> {
  const { context, app, octokit, installation, comment } = command
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
      { name, app: app.id },
    ),
  )
  const [ruleset] = rulesets
  if (!repository || !ruleset || rulesets.includes(undefined) || open.every(({ gate }) => gate === undefined)) {
    return { url, branches: open.map(({ branch }) => branch), outcome: 'unread' }
  }
  if ((await readRole({ ...repository, octokit }, comment.author.login)) !== 'admin') {
    return { url, branches: seen, outcome: 'role' }
  }
  try {
    const writer = await openWriter(context, installation.id, repository)
    for (const one of rulesets) if (one) await setRuleset(writer, one)
    // an earlier version required the plain check name on them
    const others = gates.filter(({ check }) => check !== undefined && check !== CHECK_NAME)
    await releaseBranches(
      writer,
      RULESET_NAME,
      others.map(({ branch }) => branch),
    )
    return { url, branches: seen, outcome: 'set' }
  } catch (error) {
    if (!(error instanceof BailiwickError) || error.code !== 'not-permitted') throw error
    return { url, branches: seen, outcome: 'refused', ruleset }
  }
}

/** Takes the branches out of our rulesets of one repository, for a person who could do it on GitHub themselves. */
async function release(
  { context, octokit, installation, comment }: CommandContext,
  url: string,
  gates: readonly BranchGate[],
): Promise<GateSetting> {
  const branches = gates.map(({ branch }) => branch)
  const repository = await findRepository(installation, { url })
  if (!repository) return { url, branches, outcome: 'unread' }
  if ((await readRole({ ...repository, octokit }, comment.author.login)) !== 'admin') {
    return { url, branches, outcome: 'role' }
  }
  try {
    const writer = await openWriter(context, installation.id, repository)
    const names = new Set([CHECK_NAME, ...branches.map(checkNameOf)].map(rulesetNameOf))
    for (const name of names) await releaseBranches(writer, name, branches)
    return { url, branches, outcome: 'set' }
  } catch (error) {
    if (!(error instanceof BailiwickError) || error.code !== 'not-permitted') throw error
    return { url, branches, outcome: 'refused' }
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
    const { line, installation, comment } = command
    const [wanted, more] = line.words
    if (more !== undefined || (wanted !== 'report' && wanted !== 'block')) {
      throw commandError(
        'the argument is neither report nor block',
        message`Write: ${codeWord('/bailiwick enforcement report')} or ${codeWord('/bailiwick enforcement block')}`,
      )
    }
    const text = enforcementText(wanted, comment.author.login, comment.issue.number)
    for (const fleet of await fleetsHere(command)) {
      const { commit, text: before } = await readFleetFileText(installation, fleet)
      await openRecordedPull(command.writer, {
        base: fleet.branch,
        // a merged branch may still exist, so every fleet commit gets a branch of its own
        branch: `bailiwick/enforcement-${wanted}-${commit.slice(0, 10)}`,
        files: [{ path: FLEET_FILE, content: withEnforcement(before, wanted) }],
        ...text,
      })
    }
    return { reaction: 'rocket' }
  },
}

const PAUSE_MS = 3_600_000
const PAUSE_USAGE = 'pause REASON'

/** Lets every pull request of a fleet pass for an hour; its checks show the verdict. Not written to git, so that it ends by itself. */
export const pause: BailiwickCommand = {
  name: 'pause',
  decision: 'enforcement',
  usage: PAUSE_USAGE,
  summary: 'on the fleet: let every pull request pass for an hour, with its verdict in the check (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'The checks cannot be paused',
  run: async command => {
    const { context, installation, comment, line } = command
    const reason = parseReason(line.words, `/bailiwick ${PAUSE_USAGE}`)
    const until = new Date(Date.parse(comment.createdAt) + PAUSE_MS).toISOString()
    for (const fleet of await fleetsHere(command))
      await context.statements.setPause(fleet, { by: comment.author.login, reason, until })
    await evaluateAgain(command)
    await sweepAfterPause(context, installation)
    const reply = `Every pull request of this fleet passes until ${untilText(until)}; its check shows the verdict. \`/bailiwick resume\` ends this sooner.`
    return { reaction: 'rocket', reply }
  },
}

/** Ends a pause. */
export const resume: BailiwickCommand = {
  name: 'resume',
  decision: 'enforcement',
  usage: 'resume',
  summary: 'on the fleet: end a pause (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'The pause cannot be ended',
  run: async command => {
    const { context, installation } = command
    for (const fleet of await fleetsHere(command)) await context.statements.setPause(fleet)
    await evaluateAgain(command)
    await context.queue.add('sweep-installation', { installation: installation.id })
    return { reaction: 'rocket' }
  },
}

/** The last of the open pull requests is evaluated within this time after a change of the fleet. */
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
  may: async ({ octokit, owner, comment }) =>
    (await isAccountOwner(octokit, owner, comment.author.login)) ||
    commandError(
      `only owners of ${owner} may designate a fleet`,
      'Ask one of them to comment `/bailiwick designate` here.',
    ),
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

async function change({ context, installation, repository }: CommandContext): Promise<void> {
  const repositories = await installation.repositories()
  const [operator, organization, found] = await Promise.all([
    operatorChoices(context, installation),
    readOrganizationFile(installation),
    findRecords(context, installation),
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

async function evaluateAgain({ context, installation, octokit }: CommandContext): Promise<void> {
  let before = 0
  for (const { owner, repo, archived } of await installation.repositories()) {
    if (archived) continue
    const pulls = (await listOpenPullRequests({ octokit, owner, repo })).map(({ number }) => number)
    const place = { installation: installation.id, owner, repo }
    await evaluateSpread(context, place, pulls, { before, latestMs: LATEST_MS })
    before += pulls.length
  }
}

const BEGUN = 'Bailiwick is evaluating this fleet. This report updates automatically.'

/** Writes a record into the first report of a repository, and creates that if missing. False: it has no issues. */
async function writeRecord(
  context: WorkerContext,
  repository: Repository,
  record: Omit<DesignationRecord, 'at'>,
): Promise<boolean> {
  const writer = await openWriter(context, record.installation, repository)
  const seal = designationMarker({ ...record, at: repository.id }, context.config.privateKey)
  const present = (await listOurIssues(writer))?.find(({ body }) => body.startsWith(`${REPORT_MARKER}\n`))
  const body = withDesignationMarker(present?.body ?? `${REPORT_MARKER}\n\n${BEGUN}`, seal)
  const written = await upsertIssue(writer, { marker: REPORT_MARKER, title: REPORT_TITLE, body })
  return written !== undefined
}
