import { hash } from 'node:crypto'
import type { BailiwickError } from '../../src/base/errors.ts'
import { fenced } from '../../src/base/markup.ts'
import { removedWarning } from '../../src/base/removed.ts'
import { type IssueComment, ourReactions, react, readIssueComment, writeReply } from '../../src/github/comments.ts'
import { readRole } from '../../src/github/people.ts'
import type { Attempt, CommandJob } from '../../src/receive/queue.ts'
import { openError } from '../../src/report/check-run.ts'
import { commandError, readCommandLine, refusalText } from '../../src/surface/command/command-line.ts'
import {
  type BailiwickCommand,
  type CommandContext,
  mayAsk,
  mayWrite,
  presentPull,
} from '../commands/command-context.ts'
import { helpFor } from '../commands/questions.ts'
import { commands } from '../commands/registry.ts'
import { answersOf } from '../fleets/evaluate-change.ts'
import { openWritable } from '../fleets/github-installation.ts'
import type { FleetPlace, Installation, WorkerContext, Writer } from '../fleets/worker-context.ts'
import { isFleetAdmin } from '../gate/missing-approvals.ts'
import { recordDecision, UnopenedPull } from '../gate/record-decision.ts'
import { finalError } from '../job-error.ts'

/** Reactions that mark a command as handled, whatever its result. */
const FINAL: readonly string[] = ['+1', '-1', 'confused', 'rocket']

/**
 * Runs a `/bailiwick ...` command, as GitHub has the comment now. Edited comments, comments of bots and Apps, and
 * comments on closed issues are ignored. GitHub is asked for the author's role: who takes part in the repository gets the
 * reason of a refusal or failure as a reply, a stranger only a reaction. A command that was answered is not run again.
 */
export async function command(context: WorkerContext, data: CommandJob, attempt: Attempt): Promise<void> {
  const reader = await context.app.reader(data.installation)
  const comment = await readIssueComment({ ...data, octokit: reader }, data.comment)
  if (!comment || !counts(comment, data)) return
  const line = readCommandLine(comment.body)
  if (!line) return
  const subject = await openWritable(context, data, attempt, reader)
  if (!subject || (await isAnswered(subject.writer, comment))) return
  const { login } = comment.author
  let fleets: Promise<readonly FleetPlace[]> | undefined
  await answer({
    ...{ ...subject, data, comment, line },
    role: await readRole(subject, login),
    fleetsOf: () => {
      fleets ??= fleetsOf(subject.installation, login)
      return fleets
    },
    today: new Date().toISOString().slice(0, 10),
  })
}

function counts(comment: IssueComment, data: CommandJob): boolean {
  if (comment.edited || comment.viaApp || comment.author.type !== 'User') return false
  return comment.issue.number === data.issue && comment.issue.open
}

/** The same job may come twice, and late: a hold that was lifted meanwhile must not be added again. */
async function isAnswered(writer: Writer, { id, reacted }: IssueComment): Promise<boolean> {
  if (!reacted) return false
  return (await ourReactions(writer, id)).some(one => FINAL.includes(one))
}

async function answer(command: CommandContext): Promise<void> {
  const { writer, data, line, comment } = command
  const verb = commands.find(({ name }) => name === line.verb)
  if (!verb) return answerUnknown(command)
  const may = await verb.may(command)
  if (may !== true) {
    if ((await mayAsk(command)) === true) await say(command, refusalText(may, verb.refusal))
    return react(writer, data.comment, '-1')
  }
  if (verb.where === 'pull-request' && !comment.issue.pullRequest) {
    const fix = `Comment \`/bailiwick ${verb.name}\` on a pull request.`
    return refuse(command, commandError('the command works on pull requests only', fix), verb)
  }
  try {
    if (verb.slow) await react(writer, data.comment, 'eyes')
    const { reaction, reply } = await verb.run(command)
    await recordCommand(command, verb, reaction)
    if (reply !== undefined) await say(command, reply)
    await react(writer, data.comment, reaction)
  } catch (error) {
    const why = finalError(error, command.attempt)
    command.context.log.warn({ err: error, comment: data.comment, verb: verb.name }, 'command refused')
    await refuse(command, openError(why, command.repository.url), verb)
  }
}

/** Explains unknown and removed commands to people with write access; comments of others are ignored. */
async function answerUnknown(command: CommandContext): Promise<void> {
  if ((await mayWrite(command)) !== true) return
  const { verb } = command.line
  await say(command, removedWarning(`/bailiwick ${verb}`) ?? (await helpFor(command, commands, verb)))
  await react(command.writer, command.data.comment, 'confused')
}

async function refuse(command: CommandContext, why: BailiwickError, verb: BailiwickCommand): Promise<void> {
  const patch = why instanceof UnopenedPull ? patchText(why) : ''
  await say(command, `${refusalText(why, verb.refusal)}${patch}`)
  await react(command.writer, command.data.comment, 'confused')
}

/** Bytes of a patch in a comment: GitHub takes 65,536 characters. */
const MAX_PATCH = 50_000

function patchText({ patch }: UnopenedPull): string {
  const size = Buffer.byteLength(patch.join('\n'))
  if (patch.length === 0) return ''
  if (size > MAX_PATCH) return `\n\nIts change has ${size.toLocaleString('en-US')} bytes, too many for a comment.`
  return `\n\nOr open the pull request yourself. This is its change, for \`git apply\`:\n\n${fenced('diff', patch)}`
}

async function say({ writer, data }: CommandContext, body: string): Promise<void> {
  await writeReply(writer, { issue: data.issue, about: data.comment, body })
}

/** The designated fleets of an installation of which a person is an admin. */
async function fleetsOf(installation: Installation, login: string): Promise<readonly FleetPlace[]> {
  const { fleets } = await installation.designation()
  const decides = await Promise.all(fleets.map(fleet => isFleetAdmin(installation, fleet, login)))
  return fleets.filter((_, index) => decides[index])
}

/**
 * Records an executed command in the trail: of this fleet, or of the fleets of which its author is an admin. Its text
 * stays in the comment, where it can be hidden; the trail has its hash.
 */
async function recordCommand(
  command: CommandContext,
  { name, decision: kind }: Pick<BailiwickCommand, 'name' | 'decision'>,
  reaction: 'rocket' | '+1',
): Promise<void> {
  const { context, data, comment } = command
  const result = reaction === 'rocket' ? 'done' : AFTER_PLUS[name]
  if (kind === 'none' || result === undefined || context.outbox === undefined) return
  for (const fleet of await fleetsFor(command)) {
    await recordDecision(
      context,
      { installation: data.installation, url: fleet.repository.url },
      {
        id: `comment ${comment.id}`,
        ...{ kind, who: comment.author.login, repository: `${data.owner}/${data.repo}`, result },
        ...(comment.issue.pullRequest ? { pull: comment.issue.number } : {}),
        revisions: [],
        digest: hash('sha256', comment.body),
      },
    )
  }
}

/** The recorded result if the reaction is only `+1`; a command that is not listed changed nothing then. */
const AFTER_PLUS: Readonly<Record<string, string>> = { hold: 'done', unhold: 'done', override: 'pending' }

/** Records a decision of a person without a role in the fleets that evaluate the pull request, or in the only fleet. */
async function fleetsFor(command: CommandContext): Promise<readonly FleetPlace[]> {
  const { installation, repository, comment, fleetsOf } = command
  const mine = await fleetsOf()
  const here = mine.filter(fleet => fleet.repository.url === repository.url)
  if (mine.length > 0) return here.length > 0 ? here : mine
  const { fleets } = await installation.designation()
  if (fleets.length <= 1 || !comment.issue.pullRequest) return fleets.length === 1 ? fleets : []
  const answers = await answersOf(command, await presentPull(command))
  return answers.map(({ place }) => place)
}
