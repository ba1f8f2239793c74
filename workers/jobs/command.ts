import { readCommandLine } from '../../src/command/command-line.ts'
import { refusalText } from '../../src/command/refusal-text.ts'
import { type IssueComment, readIssueComment } from '../../src/github/comments/issue-comment.ts'
import { ourReactions, react } from '../../src/github/comments/reactions.ts'
import { writeReply } from '../../src/github/comments/reply.ts'
import { readRole } from '../../src/github/people/permission.ts'
import { removedWarning } from '../../src/message/removed.ts'
import type { Attempt, CommandJob } from '../../src/queue/queue.ts'
import { openError } from '../../src/report/open-error.ts'
import type { BailiwickCommand, CommandContext } from '../commands/command-context.ts'
import { helpFor } from '../commands/help.ts'
import { mayWrite } from '../commands/may.ts'
import { recordCommand } from '../commands/record-command.ts'
import { commands } from '../commands/registry.ts'
import type { FleetPlace } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { type FleetAccess, isFleetAdmin } from '../evaluate/is-fleet-admin.ts'
import { openRepository } from '../fleets/open-repository.ts'
import { asBailiwickError, isTriedAgain } from '../job-error.ts'
import { openPlace } from '../publish/open-place.ts'
import type { PublishTarget } from '../publish/publish-verdict.ts'

/** Reactions with which we say that a command is done with, one way or another. */
const FINAL: readonly string[] = ['+1', '-1', 'confused', 'rocket']

/**
 * Runs a `/bailiwick ...` command, as GitHub has the comment now. Edited comments, comments of bots and Apps, and
 * comments on closed issues are ignored. GitHub is asked for the author's role: without permission the comment gets
 * only a reaction; a command that fails gets a reply with the reason. A command that was answered is not run again.
 */
export async function command(context: WorkerContext, data: CommandJob, attempt: Attempt): Promise<void> {
  const reader = await context.app.reader(data.installation)
  const comment = await readIssueComment(reader, data, data.comment)
  if (!comment || !counts(comment, data)) return
  const line = readCommandLine(comment.body)
  if (!line) return
  const subject = await openRepository(context, data, reader)
  if (!subject) return
  const { installation, repository } = subject
  const place = await openPlace(context, data, repository.id)
  if (await isAnswered(place, comment)) return
  const { login } = comment.author
  let fleets: Promise<readonly FleetPlace[]> | undefined
  await answer({
    ...{ context, data, attempt, place, reader, installation, repository, comment, line },
    role: await readRole(reader, data, login),
    fleetsOf: () => {
      fleets ??= fleetsOf({ installation, octokit: reader }, login)
      return fleets
    },
    today: new Date().toISOString().slice(0, 10),
  })
}

function counts(comment: IssueComment, data: CommandJob): boolean {
  if (comment.edited || comment.viaApp || comment.author.type !== 'User') return false
  return comment.issue.number === data.issue && comment.issue.open
}

/** The same job may come twice, and late: a hold that someone lifted meanwhile is not put on again. */
async function isAnswered(place: PublishTarget, { id, reacted }: IssueComment): Promise<boolean> {
  if (!reacted) return false
  return (await ourReactions(place.octokit, place.app, place, id)).some(one => FINAL.includes(one))
}

async function answer(command: CommandContext): Promise<void> {
  const { place, data, line, comment } = command
  const verb = commands.find(({ name }) => name === line.verb)
  if (!verb) return answerUnknown(command)
  if (!(await verb.may(command))) return react(place.octokit, data, data.comment, '-1')
  if (verb.where === 'pull-request' && !comment.issue.pullRequest) {
    return refuse(command, `${line.verb} is for pull requests`, verb)
  }
  try {
    if (verb.slow) await react(place.octokit, data, data.comment, 'eyes')
    const { reaction, reply } = await verb.run(command)
    await recordCommand(command, verb, reaction)
    if (reply !== undefined) await say(command, reply)
    await react(place.octokit, data, data.comment, reaction)
  } catch (error) {
    if (isTriedAgain(error, command.attempt)) throw error
    command.context.log.warn({ err: error, comment: data.comment, verb: verb.name }, 'command refused')
    await refuse(command, error, verb)
  }
}

/** Words that we do not know, and removed commands, are explained to who works here; others may talk to whomever they like. */
async function answerUnknown(command: CommandContext): Promise<void> {
  if (!(await mayWrite(command))) return
  const { verb } = command.line
  await say(command, removedWarning(`/bailiwick ${verb}`) ?? (await helpFor(command, commands, verb)))
  await react(command.place.octokit, command.data, command.data.comment, 'confused')
}

async function refuse(command: CommandContext, error: unknown, verb: BailiwickCommand): Promise<void> {
  const why = typeof error === 'string' ? error : openError(asBailiwickError(error), command.repository.url)
  await say(command, refusalText(why, verb.refusal))
  await react(command.place.octokit, command.data, command.data.comment, 'confused')
}

async function say({ place, data }: CommandContext, body: string): Promise<void> {
  await writeReply(place.octokit, place.app, data, { issue: data.issue, about: data.comment, body })
}

/** The designated fleets of an installation for which a person decides. */
async function fleetsOf(access: FleetAccess, login: string): Promise<readonly FleetPlace[]> {
  const { fleets } = await access.installation.designation()
  const decides = await Promise.all(fleets.map(fleet => isFleetAdmin(access, fleet, login)))
  return fleets.filter((_, index) => decides[index])
}
