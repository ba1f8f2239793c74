import type { FindingGroup } from '../../evaluate/verdict/group-findings.ts'
import { writtenField } from '../../fix/written-field.ts'
import { listed, type Message, message, part, plainText } from '../../message/message.ts'
import { fixOf } from '../../message/said.ts'
import type { Finding } from '../../rules/model/finding.ts'
import { placeOf } from './place.ts'

const MAX_VALUES = 5

/**
 * How to fix a finding, in plain text: the edit of the line that wrote the offending value where that is known, else the words of
 * the rule. `here`: the repository at hand.
 */
export function fixText(group: Pick<FindingGroup, 'finding' | 'objects'>, here: string): string {
  return plainText(fixMessage(group, here))
}

/** The same with the types of its values. */
export function fixMessage({ finding, objects }: Pick<FindingGroup, 'finding' | 'objects'>, here: string): Message {
  // what is generated says less than what stands in a file
  for (const { finding: one } of objects) {
    const edit = editOf(one, here)
    if (edit !== undefined) return edit
  }
  return fixOf(finding)
}

function editOf(finding: Finding, here: string): Message | undefined {
  const { edit, allowed = [], origin } = finding
  const name = writtenName(finding)
  const place = placeOf(origin, here)
  if (name === undefined || place === '' || (edit && 'remove' in edit)) return undefined
  if (edit && 'rename' in edit) {
    return message`Rename \`${part('field', name)}\` to \`${part('value', edit.rename)}\` at ${part('path', place)}.`
  }
  if (edit && 'add' in edit) return message`Add \`${part('value', `${name}: ${edit.add}`)}\` at ${part('path', place)}.`
  const values = edit && 'set' in edit ? [edit.set] : allowed.slice(0, MAX_VALUES)
  if (values.length === 0) return undefined
  const left = edit ? 0 : allowed.length - values.length
  const list = listed(values.map(value => part('value', value, `\`${value === '' ? '""' : value}\``)))
  const more = left > 0 ? message` and ${left} more` : message``
  return message`Set \`${part('field', name)}\` to ${values.length > 1 ? 'one of ' : ''}${list}${more} at ${part('path', place)}.`
}

/** The name of the field at the line that wrote it; undefined where the line holds something else. */
function writtenName(finding: Finding): string | undefined {
  const name = writtenField(finding)?.split('/').at(-1)?.replaceAll('~1', '/').replaceAll('~0', '~')
  return name === undefined || name === '' || /^\d+$/.test(name) ? undefined : name
}
