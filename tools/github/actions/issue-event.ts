import { type Issue, type IssueEvent, type Label, now, type User, type World } from '../world.ts'

/** Writes into the timeline of an issue or pull request. */
export function recordEvent(world: World, issue: Issue, event: IssueEvent['event'], actor: User, label?: Label): void {
  issue.events.push({ id: world.nextId(), event, actor, label: label && { ...label }, at: now() })
}
