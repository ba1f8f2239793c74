import type { FindingGroup } from '../../evaluate/verdict/group-findings.ts'
import type { Step } from '../../origin.ts'
import type { Finding } from '../../rules/model/finding.ts'
import { placeOf } from './place.ts'

/** Steps behind which the line that wrote a value holds something else than the value of the field. */
const MADE: ReadonlySet<Step['step']> = new Set([
  'generator',
  'transformer',
  'reference',
  'replacement',
  'substitution',
  'local-config',
])
const MAX_VALUES = 5

/**
 * How to fix a finding, in plain text: the edit of the line that wrote the offending value where that is known, else the words of
 * the rule. `here`: the repository at hand.
 */
export function fixText({ finding, objects }: Pick<FindingGroup, 'finding' | 'objects'>, here: string): string {
  // what is generated says less than what stands in a file
  for (const { finding: one } of objects) {
    const edit = editOf(one, here)
    if (edit !== undefined) return edit
  }
  return finding.fix
}

function editOf(finding: Finding, here: string): string | undefined {
  const { edit, allowed = [], origin } = finding
  const name = writtenName(finding)
  const place = placeOf(origin, here)
  if (name === undefined || place === '') return undefined
  if (edit && 'add' in edit) return `Add \`${name}: ${edit.add}\` at ${place}.`
  const values = edit && 'set' in edit ? [edit.set] : allowed.slice(0, MAX_VALUES)
  if (values.length === 0) return undefined
  const left = edit ? 0 : allowed.length - values.length
  const list = `${values.map(value => `\`${value}\``).join(', ')}${left > 0 ? ` and ${left} more` : ''}`
  return `Set \`${name}\` to ${values.length > 1 ? 'one of ' : ''}${list} at ${place}.`
}

/** The name of the field at the line that wrote it; undefined where the line holds something else. */
function writtenName({ field, via }: Finding): string | undefined {
  if (via[0]?.step === 'flux-target-namespace') return 'targetNamespace'
  if (via.some(({ step }) => MADE.has(step))) return undefined
  const name = field.split('/').at(-1)?.replaceAll('~1', '/').replaceAll('~0', '~')
  return name === undefined || name === '' || /^\d+$/.test(name) ? undefined : name
}
