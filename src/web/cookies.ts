import type { IncomingMessage } from 'node:http'

/** With this prefix a browser takes a cookie only from this very host, over https, for all of it: no other can plant one. */
const PREFIX = '__Host-'

/** Reads one of our cookies; undefined if it is absent or sent twice. */
export function readCookie(request: IncomingMessage, name: string): string | undefined {
  const pairs = (request.headers.cookie ?? '').slice(0, 8_192).split(';')
  const found = pairs.map(pair => pair.trim()).filter(pair => pair.startsWith(`${PREFIX}${name}=`))
  const value = found.length === 1 ? found[0]?.slice(PREFIX.length + name.length + 1) : undefined
  return value !== undefined && /^[\w-]{1,4096}$/.test(value) ? value : undefined
}

/**
 * Builds the header that sets a cookie; `maxAge` 0 removes it. Scripts cannot read it, and other sites send it only
 * with a link.
 */
export function cookieHeader(name: string, value: string, maxAge: number): string {
  return `${PREFIX}${name}=${value}; Path=/; Max-Age=${Math.floor(maxAge)}; HttpOnly; Secure; SameSite=Lax`
}
