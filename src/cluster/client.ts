import { BailiwickError } from '../base/errors.ts'
import type { Json } from '../kube/node.ts'
import { display, groupOf, type ObjectId } from '../kube/object.ts'
import { itemsAt, stringAt } from './json.ts'

/** How the API serves a kind. */
export interface ApiResource {
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
}

/** The kinds that a cluster knows. */
interface Discovery {
  /**
   * The resource of a kind; undefined where the cluster has no such kind. What is not known is asked for again, at
   * most five times a second. Throws `cluster-unavailable` where the kind's API group does not answer at the moment.
   */
  find(apiVersion: string, kind: string): Promise<ApiResource | undefined>
  /** The same in that version, or else in any other that the cluster serves: versions of a group are views of one object. */
  findAnyVersion(apiVersion: string, kind: string): Promise<ApiResource | undefined>
  /** What is known may be wrong: read it again at the next request. */
  forget(): void
}

/** As whom a request is made: `user` is impersonated; `worker` is the identity of the kubeconfig, and must be asked for. */
export type Actor = { readonly user: string } | 'worker'

/** What a request may carry besides. */
export interface RequestOptions {
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Json
  readonly contentType?: string
  /** `text/plain`: the body of a success is its text. */
  readonly accept?: string
  readonly signal?: AbortSignal | undefined
  /** Does not wait for its turn: for the question whether the API server answers at all. */
  readonly ahead?: boolean
  /** How many milliseconds the API server may take, asked at each moment at which it is sent; throws where it must not be. */
  readonly within?: () => number
  /** Called with true whenever the request goes to the API server, and with false when it waits here to be sent again. */
  readonly onSent?: (isSent: boolean) => void
}

/** A success, or 404 with the API server's Status. */
interface Response {
  readonly status: number
  readonly body: Json
}

/** One cluster of clusters.yaml: credentials, a limited number of kept connections, the kinds that it knows. */
export interface ClusterClient {
  readonly name: string
  /** The worker's own namespace, where inventories are. */
  readonly namespace: string
  readonly discovery: Discovery
  /**
   * One request. Resolves for 2xx and 404; throws ClusterError for other answers (see clusterError) and BailiwickError
   * `cluster-unavailable` where there is none. Never sends a group: the API server derives those of an account.
   */
  request(actor: Actor, method: string, path: string, options?: RequestOptions): Promise<Response>
  /**
   * A GET whose answer goes on: calls `onItem` with each JSON value of a line until the server ends it. Has a connection of
   * its own. Throws like `request`, also for 404, and where nothing comes for five minutes.
   */
  stream(actor: Actor, path: string, options: RequestOptions, onItem: (item: Json) => void): Promise<void>
  /** What is true of requests of this client beside its credentials, of another one too: sent while a Lease is held. */
  over?(other: ClusterClient): ClusterClient
  close(): void
}

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

/** Metadata only: ownership needs nothing else, and so no Secret comes into this process. */
export const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'

interface Reading {
  /** How its kind is found; absent: in whatever version the cluster serves. */
  readonly find?: () => Promise<ApiResource | undefined>
  /** Absent: metadata only. */
  readonly whole?: boolean
  readonly signal?: AbortSignal | undefined
}

interface Live {
  readonly resource: ApiResource
  readonly path: string
  /** Undefined where there is none. */
  readonly live: Json | undefined
}

/**
 * The object as it is, read as the actor; undefined where the cluster does not have its kind. A known kind that is not
 * served any more is looked up again, so that a removed definition is not taken for a removed object.
 */
export async function readLive(
  client: ClusterClient,
  actor: Actor,
  id: ObjectId,
  { find = () => client.discovery.findAnyVersion(id.apiVersion, id.kind), whole = false, signal }: Reading = {},
): Promise<Live | undefined> {
  for (let attempt = 1; attempt <= 2; attempt++) {
    const resource = await find()
    if (!resource) return undefined
    const path = objectPath(resource, id.namespace, id.name)
    const options = whole ? { signal } : { accept: METADATA_ONLY, signal }
    const { status, body } = await client.request(actor, 'GET', path, options)
    if (status !== 404) return { resource, path, live: body }
    if (stringAt(body, 'details', 'name') === id.name) return { resource, path, live: undefined }
    client.discovery.forget()
  }
  const what = `cluster ${client.name} lists ${id.apiVersion} ${id.kind} and does not serve it`
  throw new BailiwickError('cluster-unavailable', `${what}, so ${display(id)} cannot be read`)
}
