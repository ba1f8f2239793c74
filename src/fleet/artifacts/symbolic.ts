/**
 * Text of which some parts are not known, as the id of a commit: each stands between two NULs, which no YAML file holds. Two
 * unknown parts of the same name are the same text within one run of a workflow.
 */
export type Symbolic = string

const MARK = '\0'

/** A part that is not known. */
export const unknownText = (name: string): Symbolic => `${MARK}${name.replaceAll(MARK, '?')}${MARK}`

/** A part that is not known but for what it is not. */
export const otherThan = (text: string): Symbolic => unknownText(`${OTHER_THAN}${text}`)

const OTHER_THAN = 'other than '

/** Whether all of a text is known. */
export const isKnown = (text: Symbolic): boolean => !text.includes(MARK)

/** For people: unknown parts are dots. */
export const shownText = (text: Symbolic): string => partsOf(text).join('...')

/** The known parts in order; between each two of them something is not known. */
function partsOf(text: Symbolic): string[] {
  return text.split(MARK).filter((_part, index) => index % 2 === 0)
}

/** Whether a text could turn out to be this one. */
export function mayBe(text: Symbolic, wanted: string): boolean {
  if (text.includes(OTHER_THAN) && text.replaceAll(/\0other than ([^\0]*)\0/g, '$1') === wanted) return false
  const parts = partsOf(text)
  const [first = '', ...rest] = parts
  const last = rest.pop()
  if (last === undefined) return first === wanted
  if (!wanted.startsWith(first) || !wanted.endsWith(last) || wanted.length < first.length + last.length) return false
  let from = first.length
  for (const part of rest) {
    const found = wanted.indexOf(part, from)
    if (found < 0) return false
    from = found + part.length
  }
  return from <= wanted.length - last.length
}

/** Whether a text begins so; undefined where that depends on what is not known. */
export function beginsWith(text: Symbolic, start: string): boolean | undefined {
  const [first = '', ...rest] = partsOf(text)
  if (first.startsWith(start)) return true
  return rest.length > 0 && start.startsWith(first) ? undefined : false
}

/** Whether two texts are the same; undefined where that depends on what is not known. */
export function isSame(one: Symbolic, other: Symbolic): boolean | undefined {
  if (one === other) return true
  if (isKnown(one) && isKnown(other)) return false
  if (isKnown(one)) return mayBe(other, one) ? undefined : false
  if (isKnown(other)) return mayBe(one, other) ? undefined : false
  return undefined
}
