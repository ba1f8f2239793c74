import { summaryOf } from '../../evaluate/verdict/summary.ts'
import { visible } from '../../message/visible.ts'
import type { Finding, NodeFailure } from '../../rules/model/finding.ts'
import type { View } from './audience.ts'

/** The first line of a verdict, as its audience may see it. */
export function headlineOf({ verdict, hidden }: View): string {
  return visible(summaryOf(verdict, hidden), 500)
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
