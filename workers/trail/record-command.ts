import { hash } from 'node:crypto'
import type { Asking, Verb } from '../commands/verb.ts'
import { type NewDecision, recordDecision } from './record-decision.ts'

/** Commands that decide something, and as what. */
const KINDS: Readonly<Record<string, NewDecision['kind']>> = {
  override: 'override',
  waive: 'waiver',
  'approve-waiver': 'waiver',
  onboard: 'onboarding',
  'approve-prune': 'approve-prune',
}

/**
 * Has a command that was carried out written to the trail: of this fleet, or of the fleets that its author decides for.
 * Its words stay in the comment, where they can be hidden; the trail has their hash.
 */
export async function recordCommand(asking: Asking, verb: Pick<Verb, 'name'>, result: string): Promise<void> {
  const { context, data, comment, repository } = asking
  const kind = Object.hasOwn(KINDS, verb.name) ? KINDS[verb.name] : undefined
  if (kind === undefined || context.outbox === undefined) return
  const mine = await asking.fleetsOf()
  const here = mine.filter(fleet => fleet.repository.url === repository.url)
  for (const fleet of here.length > 0 ? here : mine) {
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
