import { hash } from 'node:crypto'
import type { FleetPlace } from '../context/readable-repository.ts'
import { answersOf } from '../evaluate/answers-of.ts'
import { recordDecision } from '../trail/record-decision.ts'
import type { BailiwickCommand, CommandContext } from './command-context.ts'
import { presentPull, subjectOf } from './present-pull.ts'

/**
 * Has a command that was carried out written to the trail: of this fleet, or of the fleets that its author decides for.
 * Its words stay in the comment, where they can be hidden; the trail has their hash.
 */
export async function recordCommand(
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

/** What was decided where the reaction is only `+1`; a command that is not listed changed nothing then. */
const AFTER_PLUS: Readonly<Record<string, string>> = { hold: 'done', unhold: 'done', override: 'pending' }

/** A decision of a person without a role in a fleet is recorded in the fleets that evaluate the pull request, or in the only fleet. */
async function fleetsFor(command: CommandContext): Promise<readonly FleetPlace[]> {
  const { context, installation, repository, comment, fleetsOf } = command
  const mine = await fleetsOf()
  const here = mine.filter(fleet => fleet.repository.url === repository.url)
  if (mine.length > 0) return here.length > 0 ? here : mine
  const { fleets } = await installation.designation()
  if (fleets.length <= 1 || !comment.issue.pullRequest) return fleets.length === 1 ? fleets : []
  const answers = await answersOf(context, subjectOf(command), await presentPull(command))
  return answers.map(({ place }) => place)
}
