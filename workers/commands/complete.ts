import { commandError } from '../../src/command/command-error.ts'
import { COMPLETE_USAGE, parseComplete } from '../../src/onboard/completion/parse-complete.ts'
import type { Completion } from '../../src/onboard/completion/plan-completion.ts'
import { commitRecorded } from '../trail/recorded-writes.ts'
import type { BailiwickCommand, CommandContext } from './command-context.ts'
import { mayWrite } from './may.ts'
import { presentPull } from './present-pull.ts'

/**
 * Commits the files that a new tenant lacks to the branch of its pull request, on exactly the head that was looked at. Who may
 * write the command could push them. A branch in a fork is never written to.
 */
export const complete: BailiwickCommand = {
  name: 'complete',
  decision: 'completion',
  usage: COMPLETE_USAGE,
  summary: 'commit the files that a new tenant of this pull request lacks (write access)',
  where: 'pull-request',
  slow: true,
  may: mayWrite,
  refusal: 'This tenant cannot be completed',
  run: async command => {
    const { context, place, installation, repository, comment, line } = command
    const asked = parseComplete(line.words)
    const pull = await presentPull(command)
    if (pull.head.fork) {
      throw commandError('the branch is in a fork, which the App never writes to', 'Add the files there by hand.')
    }
    const found = await completionOf(command, asked, { base: pull.base.ref, head: pull.head.sha })
    const { entries } = await installation.content(repository, pull.head.sha)
    const modes = new Map(entries.map(({ path, mode }) => [path, mode]))
    const files = found.files.map(({ path, content }) => ({
      path,
      content,
      mode: modes.get(path) === '100755' ? ('100755' as const) : ('100644' as const),
    }))
    const message = `Complete tenant ${found.tenant}\n\nRequested by ${comment.author.login}.`
    const head = { branch: pull.head.ref, head: pull.head.sha }
    const act = { context, app: place.app, fleet: { installation: installation.id, url: repository.url } }
    const sha = await commitRecorded(act, place.octokit, place, pull.number, { ...head, files, message })
    if (sha === undefined) throw commandError('the branch has moved meanwhile', 'Run the command again.')
    return { reaction: 'rocket' }
  },
}

async function completionOf(
  { context, installation, repository }: CommandContext,
  { tenant, cluster }: ReturnType<typeof parseComplete>,
  { base: branch, head }: { readonly base: string; readonly head: string },
): Promise<Completion> {
  const commit = await installation.head(repository, { branch })
  if (!commit) throw commandError('the base branch is gone', 'Change the base of the pull request.')
  const [before, after] = [await installation.content(repository, commit), await installation.content(repository, head)]
  const chosen = cluster === undefined ? {} : { cluster }
  const asked = { type: 'complete', before, after, url: repository.url, branch, ...chosen } as const
  const answer = await context.evaluator.evaluate(asked)
  if (answer.type !== 'completions') {
    throw new TypeError(`the rendering thread answered ${answer.type} to a question for what tenants lack`)
  }
  const found = answer.completions.find(one => one.tenant === tenant)
  if (found && found.files.length > 0) return found
  if (found && found.choices.length > 0) {
    const names = found.choices.map(one => one.cluster).join(', ')
    throw commandError(`no cluster lists ${tenant}`, `Name one of these with --cluster: ${names}.`)
  }
  throw commandError(
    `Bailiwick knows of no file that ${tenant} certainly lacks`,
    'Only a new tenant whose objects agree with each other is completed. Rebase the branch if its base has changed.',
  )
}
