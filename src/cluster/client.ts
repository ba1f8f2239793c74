import type { Json } from '../kube/node.ts'

/** How the API serves a kind. */
export interface ApiResource {
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
}

/** The kinds that a cluster knows. */
export interface Discovery {
  /**
   * The resource of a kind; undefined where the cluster has no such kind. What is not known is asked for again, at
   * most five times a second. Throws `cluster-unavailable` where the kind's API group does not answer at the moment.
   */
  find(apiVersion: string, kind: string): Promise<ApiResource | undefined>
  /** The same in that version, or else in any other that the cluster serves: versions of a group are views of one object. */
  findAnyVersion(apiVersion: string, kind: string): Promise<ApiResource | undefined>
  /** What is known may be wrong: read it again when it is asked for next. */
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
