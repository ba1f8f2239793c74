const HTTPS = /^https:\/\/[^/?#\\@\s]+(?:\/[^?#\\\s]*)?$/i

/**
 * The one spelling of an API server's address: origin and path, without a slash at the end. Undefined for what is not
 * https, names a user, or has a query or fragment.
 */
export function apiServerAddress(text: string): string | undefined {
  const url = HTTPS.test(text) ? URL.parse(text) : null
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return undefined
  if (url.search !== '' || url.hash !== '') return undefined
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}
