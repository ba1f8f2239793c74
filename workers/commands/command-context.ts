import { BailiwickError } from '../../src/base/errors.ts'
import { headSince } from '../../src/github/branches.ts'
import type { IssueComment } from '../../src/github/comments.ts'
import type { RepositoryRole } from '../../src/github/people.ts'
import {
  isSince,
  type OpenedAnew,
  openedAnew,
  type PullRequest,
  readPullRequest,
} from '../../src/github/pull-request.ts'
import type { CommandJob } from '../../src/receive/queue.ts'
import { viewFor } from '../../src/report/text/audience.ts'
import type { Verdict } from '../../src/rules/model/finding.ts'
import { type CommandLine, commandError } from '../../src/surface/command/command-line.ts'
import type { DecisionKind } from '../../src/verdict/trail-entry.ts'
import { answersOf } from '../fleets/evaluate-change.ts'
import type { FleetPlace, WritableCase } from '../fleets/worker-context.ts'
import type { CommitOutcome } from '../gate/commit-outcome.ts'
import { evaluatePullRequest } from '../gate/evaluate-pull-request.ts'

/** A command and its context: the person and the repository, as GitHub has them now. */
export interface CommandContext extends WritableCase {
  readonly data: CommandJob
  readonly comment: IssueComment
  readonly line: CommandLine
  /** What the author of the comment may do on this repository. */
  readonly role: RepositoryRole
  /** Fleets of the installation of which the author is an admin; read once. */
  fleetsOf(): Promise<readonly FleetPlace[]>
  /** The day in UTC, `YYYY-MM-DD`. */
  readonly today: string
}

/** The result of a command. It has a reply only if the person asked for one. */
interface Done {
  readonly reaction: '+1' | 'rocket'
  /** Markdown. */
  readonly reply?: string
}

/** `true`, or the reason that the reply shows. */
type Permission = (command: CommandContext) => Promise<true | BailiwickError>

/** One command of `/bailiwick`. */
export interface BailiwickCommand {
  readonly name: string
  /** The decision kind that the trail records; `none`: the command only answers or evaluates again. */
  readonly decision: DecisionKind | 'none'
  /** How to write it, without `/bailiwick`. */
  readonly usage: string
  /** One sentence for people. */
  readonly summary: string
  /** `pull-request`: only there. */
  readonly where: 'anywhere' | 'pull-request'
  /** Whether it takes so long that people want to see that it began. */
  readonly slow: boolean
  /** Whether the person may run it, by GitHub and the fleet's own file at this moment; else why not, and what works. */
  readonly may: Permission
  /** Throws BailiwickError if it cannot be done as requested; the reply shows that error. */
  run(command: CommandContext): Promise<Done>
  /** The beginning of the reply if it cannot be done. */
  readonly refusal?: string
}

const ORDER: readonly RepositoryRole[] = ['none', 'read', 'triage', 'write', 'maintain', 'admin']

/** Whether a role has at least the rights of another one. */
export function isAtLeast(role: RepositoryRole, wanted: RepositoryRole): boolean {
  return ORDER.indexOf(role) >= ORDER.indexOf(wanted)
}

/** The person has write access to the repository. */
export const mayWrite: Permission = async command => needsRole(command, 'write', 'write access to this repository')

/** The person maintains or administers the repository. */
export const mayMaintain: Permission = async command =>
  needsRole(command, 'maintain', 'the role maintain or admin on this repository')

function needsRole(command: CommandContext, wanted: RepositoryRole, needs: string): true | BailiwickError {
  if (isAtLeast(command.role, wanted)) return true
  return commandError(`it needs ${needs}`, `Ask someone with that role to run ${written(command)}.`)
}

/**
 * The person takes part in the repository, so they get replies. On a public repository everyone can read, and an App
 * that replies to strangers could be made to flood it.
 */
export const mayAsk: Permission = async command => {
  const { role, comment } = command
  if (role !== 'none' && comment.issue.author === comment.author.login) return true
  return needsRole(command, 'triage', 'the role triage on this repository')
}

/** The person is an admin of any fleet of the installation. */
export const mayDecideForFleet: Permission = async command =>
  (await command.fleetsOf()).length > 0 || notAdmin(command, false)

/** The author of the comment is an admin of a fleet in this repository. */
export const decidesHere: Permission = async command =>
  (await fleetsHere(command)).length > 0 || notAdmin(command, true)

/** Why a person is not an admin of a fleet, without the name of one: not everyone may know it. `here`: of this repository. */
async function notAdmin(command: CommandContext, here: boolean): Promise<BailiwickError> {
  const { fleets } = await command.installation.designation()
  if (fleets.length === 0) {
    return commandError(
      'no fleet is designated',
      'An owner of the organization comments `/bailiwick designate` in the repository of the fleet.',
    )
  }
  if (here && !fleets.some(({ repository }) => repository.url === command.repository.url)) {
    return commandError(
      'this repository is not a designated fleet',
      `Run ${written(command)} in the repository of the fleet.`,
    )
  }
  return commandError(
    'you are not a fleet admin',
    `Ask someone who maintains the fleet repository, or is listed in its \`approvers\`, to run ${written(command)}.`,
  )
}

const written = ({ line }: CommandContext) => `\`/bailiwick ${line.verb}\``

/** The fleets of the comment's repository of which its author is an admin; several if several branches are bound. */
export async function fleetsHere(command: CommandContext): Promise<FleetPlace[]> {
  return (await command.fleetsOf()).filter(({ repository }) => repository.url === command.repository.url)
}

/** Returns the pull request of a command, in its present state. Throws `command-input` if it is closed or gone. */
export async function presentPull(command: CommandContext): Promise<PullRequest> {
  const pull = await readPullRequest(command, command.data.issue)
  if (pull?.state === 'open') return pull
  throw commandError('the pull request is no longer open', 'Reopen it first.')
}

/** A pull request evaluated as it stands. */
interface ShownVerdict {
  readonly pull: PullRequest
  readonly evaluated: CommitOutcome
  /** What the readers of this repository may see of the verdict; absent if there is none. */
  readonly verdict?: Verdict
}

/** Evaluates the pull request of a command now; cached results are reused. Throws as presentPull does. */
export async function shownVerdict(command: CommandContext): Promise<ShownVerdict> {
  const pull = await presentPull(command)
  const evaluated = await evaluatePullRequest(command, pull)
  const { outcome, context } = evaluated
  if (outcome === undefined || outcome instanceof BailiwickError) return { pull, evaluated }
  return { pull, evaluated, verdict: viewFor(outcome, context.audience, context.repository, context.nodes).verdict }
}

/** Enqueues an evaluation of a pull request; by default, the one with the comment. */
export async function evaluateAgain({ context, data }: CommandContext, pull = data.issue): Promise<void> {
  const { installation, owner, repo } = data
  await context.queue.add('validate-pull-request', { installation, owner, repo, pull })
}

/** Refuses a person who is not an admin of every concerned fleet. Throws `command-input`. */
export async function refuseForeignFleets(command: CommandContext, pull: PullRequest): Promise<void> {
  const concerned = await concernedFleets(command, pull)
  if (concerned.length === 0) {
    throw commandError('no fleet reads this change, so there is nothing to decide', 'Merge it without the command.')
  }
  const mine = await command.fleetsOf()
  const isMine = (url: string, branch: string) =>
    mine.some(fleet => fleet.repository.url === url && fleet.branch === branch)
  if (concerned.every(({ repository, branch }) => isMine(repository.url, branch))) return
  throw commandError('you are not an admin of a fleet that this change affects', 'Ask one of its admins.')
}

/**
 * The fleets that a pull request concerns; if that is unknown, every one that it might, so that the person must be an
 * admin of all of them. An override must work when the evaluation itself fails, so any failure here counts as unknown.
 */
async function concernedFleets(command: CommandContext, pull: PullRequest): Promise<readonly FleetPlace[]> {
  const { context, installation } = command
  try {
    return (await answersOf(command, pull)).map(answer => answer.place)
  } catch (error) {
    context.log.warn({ err: error, pull: pull.number }, 'could not determine which fleets a pull request affects')
    return (await installation.designation()).fleets
  }
}

/**
 * Refuses a decision about another commit or branch than its author saw: it does not cover what was pushed after the
 * comment was written. `sha`: first digits of the commit that the comment names; `again`: the command to write for a commit.
 */
export async function refuseUnseenHead(
  command: CommandContext,
  pull: PullRequest,
  sha: string | undefined,
  again: (sha: string) => string,
): Promise<OpenedAnew | undefined> {
  const head = pull.head.sha
  const fix = `Review it, then write \`${again(head.slice(0, 12)).replaceAll('`', "'")}\``
  if (sha !== undefined && !head.startsWith(sha)) {
    throw commandError(`${sha} is not the head of this pull request`, fix)
  }
  if (sha === undefined && !(await wasSeen(command, pull))) {
    throw commandError('the current head may be newer than this comment', fix)
  }
  const anew = await openedAnew(command, pull.number)
  if (isSince(command.comment.createdAt, anew)) return anew
  throw commandError(
    'the pull request was retargeted or reopened after this comment was written',
    'Review it, then repeat the command.',
  )
}

/**
 * Whether the present head of a pull request already existed when a comment was written, so that an approval covers
 * what its author saw. False for a fork's branch, and if GitHub does not show when the branch moved.
 */
export async function wasSeen(command: CommandContext, pull: PullRequest): Promise<boolean> {
  if (pull.head.fork) return false
  const since = await headSince(command, pull.head.ref, pull.head.sha)
  // GitHub's times are whole seconds: an equal time may be later
  return since !== undefined && Date.parse(since) < Date.parse(command.comment.createdAt)
}
