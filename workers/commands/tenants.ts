import { BailiwickError } from '../../src/base/errors.ts'
import { codeWord, fixOf, message, typedMessage } from '../../src/base/message.ts'
import type { OpenedPullRequest } from '../../src/github/own-pulls.ts'
import { commandError } from '../../src/surface/command/command-line.ts'
import type { FleetChange } from '../../src/tenants/adopt/adoption.ts'
import { OFFBOARD_USAGE, type OffboardRequest, parseOffboard } from '../../src/tenants/offboard/request.ts'
import { ONBOARD_USAGE, parseOnboardCommand, removedOption } from '../../src/tenants/onboard/parse-command.ts'
import { codeSpan } from '../../src/tenants/onboard/request.ts'
import { type ActOf, openRecordedPull } from '../gate/record-decision.ts'
import { advanceOffboarding, requestOf } from '../tenants/offboarding.ts'
import { prepareOnboarding } from '../tenants/onboarding-access.ts'
import { openWithAccess, refuseForeignRepository, refuseKnownRepository } from '../tenants/open-onboarding.ts'
import type { ChangeRequest } from '../threads/protocol.ts'
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
  run: async ({ context, place, reader, installation, repository, comment }) => {
    const asked = parseOnboardCommand(comment.body)
    if (!asked) throw new TypeError('a comment that is no command came here')
    const { login } = comment.author
    const question = { octokit: reader, installation, login, url: asked.url, fleetUrl: repository.url }
    await refuseForeignRepository(question)
    const prepared = await prepareOnboarding(context, installation, repository, asked, login)
    await refuseKnownRepository(question, prepared.plan.sources)
    const access = { context, place, reader, installation, fleet: repository, prepared, by: login }
    await openWithAccess(access, `Requested in #${comment.issue.number}.`)
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
  { context, place, reader, installation, repository: fleet, comment, attempt }: CommandContext,
  { isContinued, ...command }: OffboardRequest & { readonly isContinued: boolean },
): ReturnType<BailiwickCommand['run']> {
  const here = { context, place, reader, installation, fleet, attempt }
  const { id, author, issue, createdAt: at } = comment
  const asked = { ...requestOf(command), by: author.login, comment: id, issue: issue.number, at }
  const reply = await context.queue.withLock(`offboard ${fleet.id} ${command.tenant}`, () =>
    advanceOffboarding(here, asked, isContinued),
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
      throw commandError('the argument is not one cluster', message`Write: ${codeWord(`/bailiwick ${LOCKDOWN_USAGE}`)}`)
    }
    const opened = await openChange(command, { kind: 'lockdown', cluster })
    return opened ? { reaction: 'rocket' } : { reaction: '+1', reply: 'All flags are set on this cluster.' }
  },
}

/**
 * Computes a change of the present fleet and opens its pull request; undefined if there is nothing to change. Reads
 * only the fleet's own repository: a change that needs another one is refused with the reason.
 */
async function openChange(
  { context, installation, repository, place, comment }: CommandContext,
  ask: ChangeRequest['ask'],
): Promise<OpenedPullRequest | undefined> {
  const branch = repository.defaultBranch
  const commit = await installation.head(repository, { branch })
  if (!commit) throw new BailiwickError('adopt-input', 'this repository is empty, so there is no fleet')
  const tree = await installation.content(repository, commit)
  const answer = await context.evaluator.evaluate({ type: 'change', ask, tree, url: repository.url, branch })
  if (answer.type === 'refused') throw new BailiwickError(answer.code, typedMessage(answer), { fix: fixOf(answer) })
  if (answer.type !== 'changed') {
    throw new TypeError(`the rendering thread answered ${answer.type} to a question for a change`)
  }
  const { change } = answer
  const act = { context, app: place.app, fleet: { installation: installation.id, url: repository.url } }
  const asked = { branch, commit, by: comment.author.login, issue: comment.issue.number }
  return change && openChangeOf(act, place, change, asked)
}

async function openChangeOf(
  act: ActOf,
  place: CommandContext['place'],
  { files, title, body, slug }: FleetChange,
  { branch, commit, by, issue }: { branch: string; commit: string; by: string; issue: number },
): Promise<OpenedPullRequest> {
  return openRecordedPull(
    act,
    place.octokit,
    { owner: place.owner, repo: place.repo },
    {
      base: branch,
      // each fleet commit gets a branch of its own, because a merged branch may still exist
      branch: `bailiwick/${slug}-${commit.slice(0, 10)}`,
      files: files.map(({ path, content }) => ({ path, content })),
      title,
      body: `${body}\n\nRequested by ${codeSpan(by)} in #${issue}.`,
      message: title,
    },
  )
}
