import { ended, type Message, message, part, untyped } from '../../base/message.ts'
import type { HumanDecisions } from '../../verdict/decide.ts'

/** What people decided besides the verdict, and what they still have to, in the order in which it decides: one sentence or two each. */
export function decisionSentences({ hold, override, missing }: HumanDecisions): Message[] {
  return [
    ...(hold ? [heldBy(hold)] : []),
    ...(override ? [overriddenBy(override)] : []),
    ...missing.map(({ rule, path, message: why, fix }) => {
      const where = path === undefined ? message`` : message` at ${part('path', path)}`
      return message`Approval required by ${part('value', rule)}${where}: ${untyped(ended(why))} ${untyped(fix)}`
    }),
  ]
}

function overriddenBy({ by, reason, until }: NonNullable<HumanDecisions['override']>): Message {
  const why = part('text', ended(reason))
  return until === undefined
    ? message`Overridden by ${part('value', by)}, for this commit only: ${why}`
    : message`Checks are paused by ${part('value', by)} until ${part('value', untilText(until))}: ${why} Then this commit is evaluated again.`
}

/** The end of a pause, as its day is today. */
export const untilText = (until: string): string => `${until.slice(11, 16)} UTC`

function heldBy({ by, takenOffBy }: NonNullable<HumanDecisions['hold']>): Message {
  const held = message`On hold by ${part('value', by)}. Blocked until someone with write access runs \`/bailiwick unhold\`.`
  if (takenOffBy === undefined) return held
  return message`${held} ${part('value', takenOffBy)} removed the label without write access to this repository, which does not lift the hold.`
}
