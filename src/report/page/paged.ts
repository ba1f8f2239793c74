import { type FleetQuery, queryAddress } from './fleet-query.ts'
import { type Content, html } from './html.ts'

/** One part of a list, and the links to the others. */
interface Paged<T> {
  readonly shown: readonly T[]
  readonly pager: Content
}

/** The part of a list that a query asks for, or the last one if there are fewer. `left`: rows that the page does not hold. */
export function paged<T>(
  rows: readonly T[],
  query: FleetQuery,
  list: keyof FleetQuery['parts'],
  { anchor = list, left = 0 }: { readonly anchor?: string; readonly left?: number } = {},
): Paged<T> {
  const last = Math.max(1, Math.ceil(rows.length / query.rows))
  const part = Math.min(Math.max(query.parts[list] ?? 1, 1), last)
  const to = (number: number, text: string) => {
    const address = queryAddress({ ...query, parts: { ...query.parts, [list]: number } }, anchor)
    return html`<a href="${address}">${text}</a> `
  }
  return {
    shown: rows.slice((part - 1) * query.rows, part * query.rows),
    pager: [
      last > 1 &&
        html`<p class="pager">${part > 1 && [to(1, 'First'), to(part - 1, 'Previous')]}<span>Part ${part} of ${last}</span> ${part < last && [to(part + 1, 'Next'), to(last, 'Last')]}</p>`,
      left > 0 && html`<p class="dim">${left.toLocaleString('en-US')} more are not stored for this page.</p>`,
    ],
  }
}
