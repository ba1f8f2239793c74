const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
/** Paths of GitHub that name nothing. */
const FIXED = new Set([
  '/app',
  '/app/installations',
  '/app/hook/deliveries',
  '/installation/repositories',
  '/user',
  '/rate_limit',
])

/**
 * What kind of request this is: `GET /repos/{owner}/{repo}/pulls`, as GitHub's description names it. An address that is
 * no template (further pages, archives) holds names, and is only called one of these.
 */
export function kindOfRequest(method: string, url: string): string {
  const verb = METHODS.has(method) ? method : 'OTHER'
  const parts = url.split('/')
  const owner = parts.indexOf('{owner}')
  const isRepository = /^\/repos\/\{owner\}\/\{repo\}(?:\/[a-z_-]+|\/\{[a-z_]+\})*$/.test(url) && owner === 2
  const isTemplate =
    isRepository ||
    /^\/(?:orgs\/\{org\}|users\/\{username\}|app\/installations\/\{installation_id\})(?:\/[a-z_-]+|\/\{[a-z_]+\})*$/.test(
      url,
    )
  return `${verb} ${isTemplate || FIXED.has(url) ? url : 'other'}`
}
