import { hash } from 'node:crypto'
import { MemoryCache } from '../../git/object-store.ts'

/**
 * What is read again and again, and seldom differs. Not what decides whether a check is written, and no single pull request:
 * GitHub computes whether it can be merged without a change of it.
 */
const READ_AGAIN = /\/(?:installation\/repositories|branches\/[^/]+|pulls|issues\/\d+\/(?:comments|events))$/

/** Bytes of the answers that are kept, the ones that were used last. */
const MAX_KEPT = 32 * 1024 * 1024

interface Known {
  readonly etag: string
  readonly text: string
  readonly headers: Headers
}

/**
 * Asks GitHub whether an earlier answer still holds. If it does, GitHub answers 304, which counts against no rate limit, and
 * the caller gets that answer: https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
 */
export function withKnownAnswers(ask: typeof fetch): typeof fetch {
  const kept = new MemoryCache<Known>(MAX_KEPT)
  return async (input, init) => {
    const { method, url, headers } = new Request(input, { ...init, body: null })
    if (method !== 'GET' || !READ_AGAIN.test(new URL(url).pathname)) return ask(input, init)
    // another token may see something else
    const key = hash('sha256', JSON.stringify([url, headers.get('accept'), headers.get('authorization')]))
    const known = kept.get(key)
    if (known) headers.set('if-none-match', known.etag)
    const response = await ask(input, { ...init, headers })
    if (known && response.status === 304) {
      const merged = new Headers(Object.fromEntries([...known.headers, ...response.headers]))
      return Object.defineProperty(new Response(known.text, { headers: merged }), 'url', { value: response.url })
    }
    const etag = response.headers.get('etag')
    const text = response.status === 200 && etag !== null ? await response.clone().text() : ''
    kept.delete(key)
    if (etag !== null && text !== '' && !mayGetNextPage(url, text, response.headers))
      kept.set(key, { etag, text, headers: response.headers }, text.length)
    return response
  }
}

/** The last page of a list, if it is full: the next page would not change its content, and 304 may not name that page. */
function mayGetNextPage(url: string, text: string, headers: Headers): boolean {
  if (headers.get('link')?.includes('rel="next"')) return false
  const page = JSON.parse(text)
  const items: unknown = page?.repositories ?? page
  return Array.isArray(items) && items.length >= Number(new URL(url).searchParams.get('per_page') ?? Infinity)
}
