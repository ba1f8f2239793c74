import type { Seen } from '../fault-proxy.ts'

/** What kind of request it is: as whom, verb, resource, as `account dry-run configmaps` or `worker patch kustomizations/status`. */
export function requestKind(seen: Seen): string {
  const actor = seen.user === '' ? 'worker' : 'account'
  const { resource, isNamed } = resourceOf(seen.path)
  return `${actor} ${verbOf(seen, isNamed)} ${resource}`
}

function verbOf({ method, query, contentType }: Seen, isNamed: boolean): string {
  const dry = query.get('dryRun') === 'All' ? 'dry-run ' : ''
  if (method === 'GET') return query.get('watch') === 'true' ? 'watch' : isNamed ? 'get' : 'list'
  if (method === 'POST') return `${dry}create`
  if (method === 'PUT') return `${dry}update`
  if (method === 'DELETE') return `${dry}delete`
  const [, form = contentType] = /^application\/([a-z-]+)-patch/.exec(contentType) ?? []
  return form === 'apply' ? `${dry}apply` : `${dry}${form}-patch`
}

/** `configmaps`, `kustomizations/status`; what is no resource, as it is. */
function resourceOf(path: string): { readonly resource: string; readonly isNamed: boolean } {
  const steps = path.split('/').slice(1)
  const rest = steps[0] === 'api' ? steps.slice(2) : steps[0] === 'apis' ? steps.slice(3) : []
  if (rest.length === 0) return { resource: path, isNamed: true }
  const inside = rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(2) : rest
  const [plural = '', name, sub] = inside
  return { resource: sub === undefined ? plural : `${plural}/${sub}`, isNamed: name !== undefined }
}
