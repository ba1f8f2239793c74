import { code, prose } from '../base/markup.ts'

/** A trail to which the App does not write, and the reason. */
interface StoppedTrail {
  readonly branch: string
  readonly why: string
  /** The last commit that the App wrote; undefined if not known. */
  readonly commit: string | undefined
  /** `owner/name`. */
  readonly fleet: string
}

/** First line of an incident's issue; identifies it. */
export const stoppedMarker = (incident: string): string => `<!-- bailiwick:trail-stopped ${incident} -->`

export const STOPPED_TITLE = 'Bailiwick: decisions are not recorded, because the trail was changed'

/** The issue for fleet admins: why the App no longer writes to a trail, and how to restore it. */
export function trailStoppedText({ branch, why, commit, fleet }: StoppedTrail): string {
  return [
    `Bailiwick writes each decision about this fleet to the branch ${code(branch)}. Someone else changed that branch: ${prose(why, 400)}.`,
    'Bailiwick adds nothing to it until the branch is restored. New decisions wait; checks are published as usual.',
    '### Restore the branch',
    commit === undefined
      ? `Bailiwick does not know its last own commit. Run ${code('bailiwick trail verify')} in a clone, reset the branch to the last commit that the App wrote, or rename the branch to keep it and let Bailiwick begin a new one.`
      : `The last commit that Bailiwick wrote is ${code(commit)}. An admin who may bypass the ruleset of the branch resets it:`,
    ...(commit === undefined ? [] : [restore(fleet, branch, commit)]),
    'Then protect the branch: a ruleset with *Restrict updates*, *Block force pushes* and *Restrict deletions*, and only this App on its bypass list. Find out who changed it in the audit log of the organization. Decisions are written again with the next decision.',
  ].join('\n\n')
}

/** The incident when GitHub rejects the App's writes to a branch. */
export const REFUSED = 'refused'

export const REFUSED_TITLE = 'Bailiwick: decisions are not recorded, because GitHub refuses the commits'

/** The issue for fleet admins: the App may not write to the trail. `why`: GitHub's message. */
export function trailRefusedText(branch: string, why: string): string {
  return [
    `Bailiwick writes each decision about this fleet to the branch ${code(branch)}, but GitHub rejects the writes: ${prose(why, 400)}.`,
    `Grant the App the permission ${code('Contents: write')}, and let it bypass every ruleset that applies to this branch. New decisions wait until then; checks are published as usual.`,
    `If you do not want a trail, the operator turns it off with ${code('TRAIL=off')}.`,
  ].join('\n\n')
}

/** The comment on the issue when the App writes decisions again. */
export const trailResumedText = (branch: string): string =>
  `Bailiwick writes decisions to the branch ${code(branch)} again, with those that were waiting. You can close this issue.`

function restore(fleet: string, branch: string, commit: string): string {
  const ref = `repos/${fleet}/git/refs`
  return [
    '```sh',
    `gh api -X PATCH ${ref}/heads/${branch} -f sha=${commit} -F force=true`,
    '# if the branch was deleted:',
    `gh api -X POST ${ref} -f ref=refs/heads/${branch} -f sha=${commit}`,
    '```',
  ].join('\n')
}
