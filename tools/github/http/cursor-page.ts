import { HttpError } from './http-error.ts'
import type { Call, Reply } from './route.ts'

/**
 * One page of `items` behind the cursor `after` or before the cursor `before`, with the Link header by which the next is
 * found: https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api. Throws 422 for a cursor
 * that is none.
 */
export function cursorPage<T extends { readonly id: number }>(
  call: Call,
  items: readonly T[],
  present: (item: T) => unknown,
  cursors: { readonly after: string; readonly before?: string } = { after: 'after', before: 'before' },
): Reply {
  const perPage = Math.min(Math.max(Number(call.query.get('per_page') ?? 30), 1), 100)
  const after = indexOf(items, call.query.get(cursors.after))
  const before = indexOf(items, cursors.before === undefined ? null : call.query.get(cursors.before))
  const start = before === undefined ? (after ?? -1) + 1 : Math.max(before - perPage, 0)
  const end = Math.min(start + perPage, before ?? items.length)
  const shown = items.slice(start, end)
  const to = (cursor: string, item: T, rel: string) => {
    const query = new URLSearchParams(call.query)
    for (const name of Object.values(cursors)) query.delete(name)
    query.set('per_page', String(perPage))
    query.set(cursor, cursorOf(item))
    return `<${call.world.url}${call.path}?${query}>; rel="${rel}"`
  }
  const links = []
  if (end < items.length) links.push(to(cursors.after, items[end - 1]!, 'next'))
  if (start > 0 && cursors.before !== undefined) links.push(to(cursors.before, items[start]!, 'prev'))
  const headers = links.length > 0 ? { link: links.join(', ') } : {}
  return { status: 200, body: shown.map(present), headers }
}

/** Opaque to the caller. */
const cursorOf = (item: { readonly id: number }) => `v1_${item.id}`

function indexOf(items: readonly { readonly id: number }[], cursor: string | null): number | undefined {
  if (cursor === null) return undefined
  const id = Number(/^v1_(\d+)$/.exec(cursor)?.[1])
  const index = items.findIndex(item => item.id === id)
  if (index < 0) throw new HttpError(422, 'Invalid cursor')
  return index
}
