import { codeWord, message } from '../../src/base/message.ts'
import type { OpenedPullRequest } from '../../src/github/own-pulls.ts'
import { commandError } from '../../src/surface/command/command-line.ts'
import { OFFBOARD_USAGE, type OffboardRequest, parseOffboard } from '../../src/tenants/offboard/request.ts'
import { ONBOARD_USAGE, parseOnboardCommand, removedOption } from '../../src/tenants/onboard/parse-command.ts'
import { codeSpan } from '../../src/tenants/onboard/request.ts'
import { askThread } from '../fleets/evaluate-revision-set.ts'
import type { ChangeRequest } from '../fleets/protocol.ts'
import { openRecordedPull } from '../gate/record-decision.ts'
import { advanceOffboarding, requestOf } from '../tenants/offboarding.ts'
import { prepareOnboarding } from '../tenants/onboarding-access.ts'
import { openWithAccess, refuseForeignRepository, refuseKnownRepository } from '../tenants/open-onboarding.ts'
import { type BailiwickCommand, type CommandContext, decidesHere, mayMaintain } from './command-context.ts'

/**
 * Runs `/bailiwick onboard ...`, which opens a pull request; merging it is the approval. A request that fails gets a
 * reply with the reason.
 */
export const onboardVerb: BailiwickCommand = {
  name: 'onboard',
  decision: 'onboarding',
  usage: ONBOARD_USAGE,
  summary: 'open a pull request that adds a tenant to this fleet',
  where: 'anywhere',
  slow: false,
  may: mayMaintain,
  refusal: 'This tenant cannot be onboarded',
  run: async command => {
    const { installation, repository, comment } = command
    const asked = parseOnboardCommand(comment.body)
    if (!asked) throw new TypeError('a comment that is no command came here')
    const { login } = comment.author
    const question = { installation, login, url: asked.url, fleetUrl: repository.url }
    await refuseForeignRepository(question)
    const prepared = await prepareOnboarding(command, asked, login)
    await refuseKnownRepository(question, prepared.plan.sources)
    const about = { prepared, by: login, at: comment.createdAt }
    await openWithAccess({ ...command, ...about }, `Requested in #${comment.issue.number}.`)
    const warning = removedOption(comment.body.split(/\r?\n/, 1)[0]!)
    return { reaction: 'rocket', ...(warning === undefined ? {} : { reply: warning }) }
  },
}

/**
 * Removes a tenant from the fleet in two pull requests. The progress is read from the fleet and from GitHub each time,
 * so that the same command continues after an interruption.
 */
export const offboardVerb: BailiwickCommand = {
  name: 'offboard',
  decision: 'offboarding',
  usage: OFFBOARD_USAGE,
  summary: 'remove a tenant by two pull requests; --continue: the first is applied on every cluster (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'This tenant cannot be offboarded',
  run: command =>
    runOffboarding(command, parseOffboard(command.line.words, `/bailiwick ${OFFBOARD_USAGE}`, '--continue')),
}

/** Does the next step, or replies with what it waits for. */
async function runOffboarding(
  fleet: CommandContext,
  { isContinued, ...command }: OffboardRequest & { readonly isContinued: boolean },
): ReturnType<BailiwickCommand['run']> {
  const { id, author, issue, createdAt: at } = fleet.comment
  const asked = { ...requestOf(command), by: author.login, comment: id, issue: issue.number, at }
  const reply = await fleet.context.queue.withLock(`offboard ${fleet.repository.id} ${command.tenant}`, () =>
    advanceOffboarding(fleet, asked, isContinued),
  )
  return { reaction: 'rocket', ...(reply === undefined ? {} : { reply }) }
}

const USAGE = 'adopt TENANT [--kustomization NAMESPACE/NAME] [--service-account NAME]'
const NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/
const PAIR = /^[a-z0-9.-]{1,253}\/[a-z0-9.-]{1,253}$/

/** Opens a pull request that moves Kustomizations from cluster-admin to an account with the least rights. */
export const adopt: BailiwickCommand = {
  name: 'adopt',
  decision: 'adoption',
  usage: USAGE,
  summary: 'open a pull request that moves Kustomizations from cluster-admin to an account with the least rights',
  where: 'anywhere',
  slow: true,
  may: mayMaintain,
  refusal: 'This cannot be moved to an account of its own',
  run: async command => {
    const [name, ...words] = command.line.words
    if (name === undefined || !NAME.test(name)) throw unreadable('TENANT is missing or is not a name')
    const kustomizations: string[] = []
    let account: string | undefined
    for (let index = 0; index < words.length; index += 2) {
      const [option, value = ''] = words.slice(index, index + 2)
      if (option === '--kustomization' && PAIR.test(value)) kustomizations.push(value)
      else if (option === '--service-account' && NAME.test(value) && account === undefined) account = value
      else throw unreadable('an option is not known, or its value is not a name')
    }
    const request = { name, kustomizations, ...(account === undefined ? {} : { account }) }
    await openChange(command, { kind: 'adopt', request })
    return { reaction: 'rocket' }
  },
}

function unreadable(what: string) {
  return commandError(what, message`Write: ${codeWord(`/bailiwick ${USAGE}`)}`)
}

const LOCKDOWN_USAGE = 'lockdown CLUSTER'

/** Opens a pull request with the next flag of Flux's multi-tenancy lockdown, if nothing breaks. */
export const lockdown: BailiwickCommand = {
  name: 'lockdown',
  decision: 'lockdown',
  usage: LOCKDOWN_USAGE,
  summary: "open a pull request that sets the next flag of Flux's multi-tenancy lockdown on a cluster",
  where: 'anywhere',
  slow: true,
  may: mayMaintain,
  refusal: 'The next flag cannot be set',
  run: async command => {
    const [cluster, more] = command.line.words
    if (cluster === undefined || more !== undefined) {
      throw commandError('exactly one cluster is needed', message`Write: ${codeWord(`/bailiwick ${LOCKDOWN_USAGE}`)}`)
    }
    const opened = await openChange(command, { kind: 'lockdown', cluster })
    return opened ? { reaction: 'rocket' } : { reaction: '+1', reply: 'All flags are set on this cluster.' }
  },
}

/**
 * Computes a change of the present fleet and opens its pull request; undefined if there is nothing to change. Reads
 * only the fleet's own repository: a change that needs another one is refused with the reason.
 */
async function openChange(command: CommandContext, ask: ChangeRequest['ask']): Promise<OpenedPullRequest | undefined> {
  const { writer, repository, comment } = command
  const { change, commit } = await askThread(command, { type: 'change', ask }, 'adopt-input')
  if (!change) return undefined
  const { slug, files, title, body } = change
  return openRecordedPull(writer, {
    base: repository.defaultBranch,
    // each fleet commit gets a branch of its own, because a merged branch may still exist
    branch: `bailiwick/${slug}-${commit.slice(0, 10)}`,
    files,
    title,
    body: `${body}\n\nRequested by ${codeSpan(comment.author.login)} in #${comment.issue.number}.`,
  })
}
