import { code, fenced } from '../../base/markup.ts'
import { fixOf, listed, type Message, message, part, plainText } from '../../base/message.ts'
import { firstNames } from '../../base/name-list.ts'
import { visible } from '../../base/visible.ts'
import type { Finding, NodeFailure } from '../../rules/model/finding.ts'
import type { Fix } from '../../verdict/fixes.ts'
import { limitsOf, summaryOf, titleOf } from '../../verdict/headline.ts'
import type { FailureGroup, FindingGroup } from '../../verdict/summary.ts'
import { writtenField } from '../../verdict/written-lines.ts'
import type { View } from './audience.ts'
import { placeOf } from './place.ts'

/** The title of a verdict, as its audience may see it: at most 60 characters, but for names that hide something. */
export function headlineOf({ verdict, hidden }: View): string {
  return visible(titleOf(verdict, hidden), 200)
}

/** What the title has no room for, in sentences: what was not evaluated, what others have, how much was evaluated. */
export function limitsText({ verdict, hidden }: View): string {
  return visible([...limitsOf(verdict), ...elsewhereSentence(hidden)].join(' '), 1500)
}

/** Violations and errors of others that decide with it. */
export function elsewhereSentence({ violations, errors }: View['hidden']): string[] {
  const parts = [
    ...(violations > 0 ? [count(violations, 'violation')] : []),
    ...(errors > 0 ? [count(errors, 'error')] : []),
  ]
  return parts.length === 0
    ? []
    : [`${parts.join(' and ')} elsewhere in the fleet also block. A fleet admin can see which.`]
}

/** The result in one line: `fail: 1 violation in dev-team (staging). Evaluated: ...`. A pass is named by its own first word. */
export function resultLine({ verdict, hidden }: View): string {
  const text = visible(summaryOf(verdict, hidden), 2000)
  return text.startsWith('Passed') ? text : `${verdict.result}: ${text}`
}

/** `1 violation`, `2 violations`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** A state in words: `standing` is how JSON calls what exists already. */
export function stateText(state: Finding['state']): string {
  return state === 'standing' ? 'existing' : state
}

/** Whether it is new: what blocks. */
export function isNew(item: { readonly state: Finding['state'] | NodeFailure['state'] }): boolean {
  return item.state === 'new'
}

/** The note for an existing error that Flux shares: it does not block, and merged changes are not applied. */
const NOT_APPLIED = 'Flux rejects it too. It applies nothing from this Kustomization until the error is fixed.'

/** What else is known of an error: that its Kustomizations are not applied, since which commit they do not build, what follows. */
export function noteOf({ failure: { blocksApply, since }, followers }: FailureGroup, here: string): string {
  const began = since === undefined ? '' : `The Kustomization has evaluation errors since commit ${since.slice(0, 10)}.`
  const placed = (one: NodeFailure) => `${placeOf(one.origin, here)}: ${visible(one.message, 300)}`
  const more = followers.length === 0 ? '' : `May follow from it: ${firstNames(followers, MAX_VALUES, placed)}.`
  return [blocksApply ? NOT_APPLIED : '', began, more].filter(Boolean).join(' ')
}

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
  // a generated file shows less than one in git
  for (const { finding: one } of objects) {
    const edit = editOf(one, here)
    if (edit !== undefined) return edit
  }
  return fixOf(finding)
}

function editOf(finding: Finding, here: string): Message | undefined {
  const { edit, allowed = [], origin, via } = finding
  const name = writtenName(finding)
  const place = placeOf(origin, here)
  if (edit && 'add' in edit && via[0]?.step === 'generator' && finding.field === '/metadata/namespace') {
    return message`Add \`${part('value', `namespace: ${edit.add}`)}\` to the generator at ${part('path', place)}.`
  }
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

/** Characters of all edits of one comment: the findings themselves come first. */
const BUDGET = 20_000
const ELSEWHERE = '`bailiwick fix --apply` writes it.'

/** The fix whose edit fixes a finding. */
export function fixOfGroup({ finding }: Pick<FindingGroup, 'finding'>, fixes: readonly Fix[]): Fix | undefined {
  const { rule, origin } = finding
  const isSame = (one: (typeof fixes)[number]['findings'][number]) =>
    one.rule === rule && one.origin.line === origin.line && one.origin.column === origin.column
  return fixes.find(({ path, findings }) => path === origin.file && findings.some(isSame))
}

/** The certain edits of findings as blocks that `git apply` takes, each once in one comment, within 20,000 characters. */
export class EditBlocks {
  readonly #fixes: readonly Fix[]
  readonly #shown = new Map<string, string>()
  #used = 0

  constructor(fixes: readonly Fix[]) {
    this.#fixes = fixes
  }

  /** Markdown that follows a finding; '' if no edit of it is certain. */
  blockOf(group: Pick<FindingGroup, 'finding'>): string {
    const fix = fixOfGroup(group, this.#fixes)
    if (!fix) return ''
    if (!fix.patch) return `Edit: not shown. ${ELSEWHERE}`
    const text = fenced('diff', fix.patch)
    const known = this.#shown.get(text)
    if (known !== undefined) return `Edit: included in the edit of ${known} above.`
    if (this.#used + text.length > BUDGET) return `Edit: omitted for length. ${ELSEWHERE}`
    this.#used += text.length
    this.#shown.set(text, `${code(group.finding.rule)} at ${code(`${fix.path}:${fix.first}`)}`)
    return `Edit, for \`git apply\`:\n\n${text}`
  }
}
