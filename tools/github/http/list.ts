import type { Call, Reply } from './route.ts'

/** One page of `items` with the Link header that GitHub adds; `wrap` puts the page into an object with a count. */
export function list<T>(
  call: Call,
  items: readonly T[],
  present: (item: T) => unknown,
  wrap: (page: unknown[], total: number) => unknown = page => page,
): Reply {
  const perPage = Math.min(Math.max(Number(call.query.get('per_page') ?? 30), 1), 100)
  const page = Math.max(Number(call.query.get('page') ?? 1), 1)
  const last = Math.max(Math.ceil(items.length / perPage), 1)
  const shown = items.slice((page - 1) * perPage, page * perPage).map(present)
  const to = (number: number, rel: string) => {
    const query = new URLSearchParams(call.query)
    query.set('per_page', String(perPage))
    query.set('page', String(number))
    return `<${call.world.url}${call.path}?${query}>; rel="${rel}"`
  }
  const links = []
  if (page > 1) links.push(to(page - 1, 'prev'))
  if (page < last) links.push(to(page + 1, 'next'), to(last, 'last'))
  if (page > 1) links.push(to(1, 'first'))
  const headers = links.length > 0 ? { link: links.join(', ') } : {}
  return { status: 200, body: wrap(shown, items.length), headers }
}
