import { ended, type Message, message, part, untyped } from '../../base/message.ts'
import type { HumanDecisions } from '../../verdict/decide.ts'

/** What people decided besides the verdict, and what they still have to, in the order in which it decides: one sentence or two each. */
export function decisionSentences({ hold, override, missing }: HumanDecisions): Message[] {
  return [
    ...(hold ? [heldBy(hold)] : []),
    ...(override
      ? [
          message`Overridden by ${part('value', override.by)}, for this commit only: ${part('text', ended(override.reason))}`,
        ]
      : []),
    ...missing.map(({ rule, path, message: why, fix }) => {
      const where = path === undefined ? message`` : message` at ${part('path', path)}`
      return message`Approval required by ${part('value', rule)}${where}: ${untyped(ended(why))} ${untyped(fix)}`
    }),
  ]
}

function heldBy({ by, takenOffBy }: NonNullable<HumanDecisions['hold']>): Message {
  const held = message`On hold by ${part('value', by)}. Blocked until someone with write access runs \`/bailiwick unhold\`.`
  if (takenOffBy === undefined) return held
  return message`${held} ${part('value', takenOffBy)} removed the label without write access to this repository, which does not lift the hold.`
}
