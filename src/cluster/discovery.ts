import { BailiwickError } from '../errors.ts'
import type { Json } from '../kube/node.ts'
import { groupOf } from '../kube/object.ts'
import type { ApiResource, ClusterClient, Discovery } from './client.ts'
import { itemsAt, stringAt } from './json-at.ts'

/** Aggregated discovery is stable since Kubernetes 1.30; the beta form (1.27) has the same fields. */
const ACCEPT = ['v2', 'v2beta1']
  .map(version => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(',')
const PAUSE_MS = 200

interface Catalogue {
  readonly kinds: ReadonlyMap<string, ApiResource>
  /** Groups whose list is old or absent, because the aggregated API behind them is away. */
  readonly stale: ReadonlySet<string>
}

/** Kinds of a cluster, read as the worker (every account may) and kept. */
export function createDiscovery(cluster: string, request: ClusterClient['request']): Discovery {
  let current: Promise<Catalogue> | undefined
  let readAt = 0
  const refresh = () => {
    readAt = Date.now()
    const reading = readCatalogue(cluster, request)
    reading.catch(() => {
      if (current === reading) current = undefined
    })
    current = reading
    return reading
  }
  const lookUp = async (apiVersion: string, choose: (catalogue: Catalogue) => ApiResource | undefined) => {
    const known = choose(await (current ?? refresh()))
    if (known) return known
    const catalogue = await (current && Date.now() - readAt < PAUSE_MS ? current : refresh())
    const found = choose(catalogue)
    if (!found && catalogue.stale.has(groupOf(apiVersion))) {
      throw new BailiwickError('cluster-unavailable', `cluster ${cluster}: the API ${apiVersion} is not available`)
    }
    return found
  }
  const exact = ({ kinds }: Catalogue, apiVersion: string, kind: string) => kinds.get(`${apiVersion} ${kind}`)
  return {
    find: (apiVersion, kind) => lookUp(apiVersion, catalogue => exact(catalogue, apiVersion, kind)),
    async findAnyVersion(apiVersion, kind) {
      const group = groupOf(apiVersion)
      const same = (other: ApiResource) => other.kind === kind && groupOf(other.apiVersion) === group
      return lookUp(
        apiVersion,
        catalogue => exact(catalogue, apiVersion, kind) ?? [...catalogue.kinds.values()].find(same),
      )
    },
    forget() {
      current = undefined
    },
  }
}

async function readCatalogue(cluster: string, request: ClusterClient['request']): Promise<Catalogue> {
  const kinds = new Map<string, ApiResource>()
  const stale = new Set<string>()
  for (const path of ['/api', '/apis']) {
    const { status, body } = await request('worker', 'GET', path, { accept: ACCEPT })
    if (status !== 200 || stringAt(body, 'kind') !== 'APIGroupDiscoveryList') {
      throw new BailiwickError('cluster-unavailable', `cluster ${cluster}: ${path} serves no aggregated discovery`, {
        fix: 'Use a cluster of Kubernetes 1.27 or newer.',
      })
    }
    for (const group of itemsAt(body, 'items')) readGroup(group, kinds, stale)
  }
  return { kinds, stale }
}

function readGroup(group: Json, kinds: Map<string, ApiResource>, stale: Set<string>): void {
  const name = stringAt(group, 'metadata', 'name')
  for (const version of itemsAt(group, 'versions')) {
    const apiVersion = name ? `${name}/${stringAt(version, 'version')}` : stringAt(version, 'version')
    if (stringAt(version, 'freshness') === 'Stale') stale.add(name)
    for (const resource of itemsAt(version, 'resources')) {
      const kind = stringAt(resource, 'responseKind', 'kind')
      const namespaced = stringAt(resource, 'scope') === 'Namespaced'
      const key = `${apiVersion} ${kind}`
      if (!kinds.has(key)) kinds.set(key, { apiVersion, kind, plural: stringAt(resource, 'resource'), namespaced })
    }
  }
}

/**
 * Path of one object. Throws `cluster-invalid` for a name that would address something else: none at all (the whole
 * collection), `..`, `/` or `%` (the API server's own rule for path segments).
 */
export function objectPath(resource: ApiResource, namespace: string, name: string): string {
  const root = resource.apiVersion.includes('/') ? `/apis/${resource.apiVersion}` : `/api/${resource.apiVersion}`
  const within = resource.namespaced ? `/namespaces/${segment(namespace, 'namespace')}` : ''
  return `${root}${within}/${resource.plural}/${segment(name, 'name')}`
}

function segment(text: string, what: string): string {
  if (text !== '' && text !== '.' && text !== '..' && !/[/%\p{Cc}]/u.test(text)) return encodeURIComponent(text)
  const given = text === '' ? `no ${what}` : `the ${what} ${JSON.stringify(text.slice(0, 200))}`
  throw new BailiwickError('cluster-invalid', `the object has ${given}`, {
    fix: `Set a ${what} that Kubernetes allows.`,
  })
}
