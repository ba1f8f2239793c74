import { hash } from 'node:crypto'
import type { Asking, Verb } from '../commands/verb.ts'
import type { FleetPlace } from '../context/readable-repository.ts'
import { type NewDecision, recordDecision } from './record-decision.ts'

/** Commands that decide something, and as what. The others only answer, or evaluate again. */
export const COMMAND_KINDS: Readonly<Record<string, NewDecision['kind']>> = {
  hold: 'hold',
  unhold: 'unhold',
  override: 'override',
  waive: 'waiver',
  'approve-waiver': 'waiver',
  'approve-prune': 'approve-prune',
  onboard: 'onboarding',
  offboard: 'offboarding',
  move: 'move',
  rename: 'rename',
  'hand-over': 'hand-over',
  'rotate-key': 'rotation',
  adopt: 'adoption',
  lockdown: 'lockdown',
  designate: 'designation',
  gate: 'gate',
  enforcement: 'enforcement',
}

/**
 * Has a command that was carried out written to the trail: of this fleet, or of the fleets that its author decides for.
 * Its words stay in the comment, where they can be hidden; the trail has their hash.
 */
export async function recordCommand(
  asking: Asking,
  { name }: Pick<Verb, 'name'>,
  reaction: 'rocket' | '+1',
): Promise<void> {
  const { context, data, comment } = asking
  const kind = Object.hasOwn(COMMAND_KINDS, name) ? COMMAND_KINDS[name] : undefined
  const result = reaction === 'rocket' ? 'done' : AFTER_PLUS[name]
  if (kind === undefined || result === undefined || context.outbox === undefined) return
  for (const fleet of await fleetsFor(asking)) {
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

/** Somebody who decides for no fleet is recorded where there is only one: it is the one that evaluates the repository. */
async function fleetsFor({ installation, repository, fleetsOf }: Asking): Promise<readonly FleetPlace[]> {
  const mine = await fleetsOf()
  const here = mine.filter(fleet => fleet.repository.url === repository.url)
  if (mine.length > 0) return here.length > 0 ? here : mine
  const { fleets } = await installation.designation()
  return fleets.length === 1 ? fleets : []
}
