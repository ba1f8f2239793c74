import { askRegistry, unreadable } from './ask-registry.ts'
import type { RegistryHost } from './registry-hosts.ts'

/** A repository in a registry that may be asked. */
export interface RegistryPlace {
  readonly host: RegistryHost
  readonly repository: string
  readonly anonymous: boolean
}

const PAGE = 1000
const MAX_TAGS = 20_000
const MAX_PAGES = 100
const MAX_BYTES = 4 * 1024 * 1024
const TAG = /^\w[\w.-]{0,127}$/

/**
 * The tags of a repository, as the distribution specification pages them; undefined where it does not exist or may not be
 * read. Throws `source-unreadable` for more than 20,000: the latest version must not be chosen among some of them.
 */
export async function listTags(hosts: readonly RegistryHost[], place: RegistryPlace): Promise<string[] | undefined> {
  const { host, repository } = place
  const path = `${repository}/tags/list`
  const tags = new Set<string>()
  let query: string | undefined = `?n=${PAGE}`
  for (let page = 0; query !== undefined; page++) {
    if (page === MAX_PAGES)
      throw unreadable(`${host.host} lists the tags of ${repository} on more than ${MAX_PAGES} pages`)
    const { status, headers, bytes } = await askRegistry(hosts, host, {
      ...place,
      path: `${path}${query}`,
      limit: MAX_BYTES,
    })
    if (page === 0 && (status === 404 || status === 401 || status === 403)) return undefined
    if (status !== 200) throw unreadable(`${host.host} answers with status ${status} when asked for tags`)
    for (const tag of tagsIn(bytes, host)) tags.add(tag)
    if (tags.size > MAX_TAGS) throw unreadable(`${repository} on ${host.host} has more than ${MAX_TAGS} tags`)
    query = nextQuery(headers.get('link'), host, path)
  }
  return [...tags]
}

function tagsIn(bytes: Uint8Array, { host }: RegistryHost): string[] {
  try {
    const { tags } = JSON.parse(Buffer.from(bytes).toString('utf8'))
    // a repository without tags says null
    if (tags === null) return []
    if (Array.isArray(tags)) return tags.filter(tag => typeof tag === 'string' && TAG.test(tag))
  } catch {
    // said below
  }
  throw unreadable(`${host} answers with something else than a list of tags`)
}

/** Of the next page, which is the same list and no other address. */
function nextQuery(link: string | null, { host, scheme }: RegistryHost, path: string): string | undefined {
  if (link === null) return undefined
  const base = `${scheme}://${host}/v2/${path}`
  const [, target] = /^\s*<([^<>]{1,2000})>\s*;\s*rel="?next"?\s*$/.exec(link) ?? []
  const url = target === undefined ? null : URL.parse(target, base)
  if (url && `${url.origin}${url.pathname}` === base && url.username === '' && url.search !== '') return url.search
  throw unreadable(`${host} leads from one page of tags to another address`)
}
