import { isEmpty } from '../../../kube/edit-node.ts'
import { at, canonical, type Node } from '../../../kube/node.ts'
import { textsAt } from './list-at.ts'

/**
 * Ways in which a field of Capsule limits something; `was` and `is` are its values before and after a change, `users` is the
 * list that took the place of older ones, where Capsule reads it.
 */
export type Limit = (was: Node | undefined, is: Node | undefined, users?: Node) => boolean

/** What is forbidden: less of it, or another pattern. */
export const forbids: Limit = (was, is) => {
  const now = new Set(elements(is))
  return elements(was).some(element => !now.has(element))
}

/** What is allowed: more of it, another pattern, or no list any more. */
export const allows: Limit = (was, is) => {
  if (isEmpty(was)) return false
  if (isEmpty(is)) return true
  const before = new Set(elements(was))
  return elements(is).some(element => !before.has(element))
}

/** A list of whose items none may go or change. */
export const keepsItems: Limit = (was, is) => {
  const now = new Set(is?.type === 'list' ? is.items.map(canonical) : [])
  return was?.type === 'list' && was.items.some(item => !now.has(canonical(item)))
}

/** A map of which no entry may go or change, at any depth; lists as keepsItems. */
export const keepsEntries: Limit = (was, is) => {
  if (was?.type === 'map') return [...was.fields].some(([key, { value }]) => keepsEntries(value, at(is, [key])))
  if (was?.type === 'list') return keepsItems(was, is)
  return was !== undefined && !isEmpty(was) && (is === undefined || canonical(was) !== canonical(is))
}

/** A number, or a quantity, above which nothing goes. */
export const atMost: Limit = (was, is) => {
  if (isEmpty(was)) return false
  const [before, now] = [readQuantity(was), readQuantity(is)]
  return before === undefined || now === undefined ? !is || canonical(was!) !== canonical(is) : now > before
}

/** Quotas by their order: each `hard` as atMost. */
export const quotas: Limit = (was, is) => {
  if (was?.type !== 'list') return false
  return was.items.some((item, index) => {
    const hard = at(item, ['hard'])
    if (hard?.type !== 'map') return false
    return [...hard.fields].some(([key, { value }]) => atMost(value, at(is, [index, 'hard', key])))
  })
}

/** A switch that must stay `safe`; `absent` is what holds where nothing is written. */
export const stays =
  (safe: boolean, absent: boolean): Limit =>
  (was, is) =>
    flag(was, absent) === safe && flag(is, absent) !== safe

/** One of `order`, the loosest first; `absent` is what holds where nothing is written. */
export const notBelow =
  (order: readonly string[], absent: string): Limit =>
  (was, is) => {
    const rank = (node: Node | undefined) => order.indexOf(node?.type === 'scalar' ? String(node.value) : absent)
    return rank(is) < rank(was)
  }

function flag(node: Node | undefined, absent: boolean): boolean {
  return node?.type === 'scalar' && typeof node.value === 'boolean' ? node.value : absent
}

/** What a list says, or `{allowed, allowedRegex, denied, ...}`: each element, each pattern, each label. */
function elements(node: Node | undefined): string[] {
  if (isEmpty(node) || !node) return []
  if (node.type === 'scalar') return [String(node.value)]
  if (node.type === 'list') return node.items.map(canonical)
  return [...node.fields].flatMap(([key, { value }]) => {
    // what is chosen where nobody chooses widens nothing
    if (key === 'default' || isEmpty(value)) return []
    if (value.type === 'list') return textsAt(value, []).map(text => `item ${text}`)
    return [`${key} ${canonical(value)}`]
  })
}

const FORM = /^([0-9]{1,18}(?:\.[0-9]{1,9})?)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/
const UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['m', 1e-3],
  ...['k', 'M', 'G', 'T', 'P', 'E'].map((unit, index): [string, number] => [unit, 1000 ** (index + 1)]),
  ...['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((unit, index): [string, number] => [unit, 1024 ** (index + 1)]),
])

/** A quantity of Kubernetes as a number; undefined for other spellings, which are only compared as text. */
function readQuantity(node: Node | undefined): number | undefined {
  if (node?.type !== 'scalar') return undefined
  const [, digits, unit = ''] = FORM.exec(String(node.value)) ?? []
  return digits === undefined ? undefined : Number(digits) * UNITS.get(unit)!
}
