import { listOurCheckRuns, type OurCheckRun } from '../../src/github/checks.ts'
import { listOpenPullRequests } from '../../src/github/pull-request.ts'
import { checkRunOf } from '../../src/report/check-run.ts'
import { rules } from '../../src/rules/registry.ts'
import { DIFF_USAGE, diffText, EXPLAIN_USAGE, explainText, statusText } from '../../src/surface/command/answer-text.ts'
import { commandError, helpText, quoted } from '../../src/surface/command/command-line.ts'
import { CHECK_NAME, checkNameOf } from '../../src/verdict/check-names.ts'
import { readDecisions } from '../gate/human-decisions.ts'
import {
  type BailiwickCommand,
  type CommandContext,
  evaluateAgain,
  isAtLeast,
  mayAsk,
  mayWrite,
  shownVerdict,
} from './command-context.ts'

/** Lists the commands that the person may run here; `all`: every command. */
export async function helpFor(
  command: CommandContext,
  all: readonly BailiwickCommand[],
  about?: string,
): Promise<string> {
  const here = all.filter(({ where }) => where === 'anywhere' || command.comment.issue.pullRequest)
  const allowed = await Promise.all(here.map(one => one.may(command)))
  const offered = here.filter((_, index) => allowed[index] === true)
  return helpText(command.comment.author.login, offered, about)
}

/** The command that lists the others. */
export function helpVerb(others: () => readonly BailiwickCommand[]): BailiwickCommand {
  return {
    name: 'help',
    decision: 'none',
    usage: 'help',
    summary: 'the commands that you can run here',
    where: 'anywhere',
    slow: false,
    may: mayAsk,
    run: async command => ({ reaction: '+1', reply: await helpFor(command, others()) }),
  }
}

/** Our run of the check of a base: under its own name if the repository has several. */
function checkOf(runs: readonly OurCheckRun[], base: string): OurCheckRun | undefined {
  return [checkNameOf(base), CHECK_NAME].flatMap(name => runs.find(run => run.name === name) ?? [])[0]
}

/** Shows the status of a pull request. */
export const status: BailiwickCommand = {
  name: 'status',
  decision: 'none',
  usage: 'status',
  summary: 'current result and active waivers, holds and overrides',
  where: 'pull-request',
  slow: true,
  may: mayAsk,
  run: async command => {
    const { pull, evaluated, verdict } = await shownVerdict(command)
    const runs = await listOurCheckRuns(command, pull.head.sha)
    const run = checkOf(runs, pull.base.ref)
    const decisions = await readDecisions(command, pull, evaluated, runs)
    const { title } = checkRunOf(evaluated.outcome, { ...evaluated.context, decisions })
    const reply = statusText({
      ...{ head: pull.head.sha, base: pull.base.ref, title, decisions: decisions },
      ...(run ? { run } : {}),
      ...(verdict ? { verdict } : {}),
    })
    return { reaction: '+1', reply }
  },
}

/** Explains a rule and lists its findings on this pull request. */
export const explain: BailiwickCommand = {
  name: 'explain',
  decision: 'none',
  usage: EXPLAIN_USAGE,
  summary: 'what a rule requires, why, and its findings on this pull request',
  where: 'anywhere',
  slow: true,
  may: mayAsk,
  run: async command => {
    const { line, comment, repository } = command
    const shown = comment.issue.pullRequest ? await shownVerdict(command) : undefined
    return { reaction: '+1', reply: explainText(line.words[0], rules, repository.url, shown?.verdict) }
  },
}

/** Shows rendered changes of this pull request. */
export const diff: BailiwickCommand = {
  name: 'diff',
  decision: 'none',
  usage: DIFF_USAGE,
  summary: 'rendered changes of this pull request',
  where: 'pull-request',
  slow: true,
  may: mayAsk,
  run: async command => {
    const { evaluated, verdict } = await shownVerdict(command)
    const clusters = (verdict?.clusters ?? []).map(({ name }) => name)
    const { changes, page } = evaluated.context
    return { reaction: '+1', reply: diffText(command.line.words, changes, clusters, page) }
  },
}

const USAGE = 'check [--all]'

/** Evaluates again now, for example after an outage of GitHub, a source or the App. */
export const check: BailiwickCommand = {
  name: 'check',
  decision: 'none',
  usage: USAGE,
  summary: 'evaluate this pull request again now; `--all`: every open one of this repository (needs the role maintain)',
  where: 'anywhere',
  slow: false,
  may: mayWrite,
  run: async command => {
    const { line, comment, role } = command
    const [option, more] = line.words
    if (more !== undefined || (option !== undefined && option !== '--all')) {
      throw commandError(`unknown argument ${quoted(line.rest)}`, `Write \`/bailiwick ${USAGE}\``)
    }
    if (option === undefined) {
      if (!comment.issue.pullRequest) {
        throw commandError('this is not a pull request', 'Comment on a pull request, or write `/bailiwick check --all`')
      }
      await evaluateAgain(command)
      return { reaction: '+1' }
    }
    if (!isAtLeast(role, 'maintain')) {
      throw commandError('--all requires the role maintain in this repository', 'Write `/bailiwick check`')
    }
    for (const { number } of await listOpenPullRequests(command)) await evaluateAgain(command, number)
    return { reaction: '+1' }
  },
}
