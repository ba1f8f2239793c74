import { BailiwickError } from '../../base/errors.ts'
import { actsAsKubeConfig } from '../../fleet/model/kustomization-spec.ts'
import type { KubeConfigSetting } from '../../flux/apply-settings.ts'
import { type ApiServer, apiClient, apiServer } from '../api-client.ts'
import type { Actor, ClusterClient } from '../client.ts'
import { ClusterError, clusterError } from '../cluster-error.ts'
import type { RemoteServer } from '../cluster-settings.ts'
import { stringAt } from '../json.ts'
import { ownIdentity } from '../refused-targets.ts'
import { OwnKubeConfigs, readCertificates } from './own-kubeconfigs.ts'
import { accessOfSecret, placeText, type RemoteAccess, readRemoteAccess } from './read-kubeconfig.ts'

/** A Kustomization that is applied by a kubeConfig. */
interface RemoteNode {
  readonly namespace: string
  /** As whom it is applied; see actsAsKubeConfig. */
  readonly user: string
  readonly kubeConfig: KubeConfigSetting
  /** The cluster as which it was evaluated. */
  readonly cluster: string
}

/** Where it leads. */
interface RemoteTarget {
  /** Requests of `worker` go to the home cluster, those of users to the API server of the kubeConfig. */
  readonly client: ClusterClient
  /** See apiServerAddress. */
  readonly server: string
}

interface OpenRemote extends RemoteTarget {
  /** What it was opened with: another one is opened where this changes. */
  readonly server: string
  readonly access: RemoteAccess
  readonly ca: string
}

/** More are rather opened again. */
const MAX_OPEN = 2000

/**
 * Clients of the API servers to which kubeConfigs lead. Only servers that the operator lists are ever called, by the
 * operator's address and certificates; the kubeConfig gives credentials, and must name a listed server exactly.
 */
export class RemoteClients {
  /** The kubeconfigs that the worker creates. */
  readonly own: OwnKubeConfigs
  readonly #home: ClusterClient
  readonly #allowed: readonly RemoteServer[]
  readonly #servers = new Map<string, ApiServer>()
  readonly #open = new Map<string, OpenRemote>()
  readonly #opening = new Map<string, Promise<RemoteTarget>>()

  constructor(home: ClusterClient, allowed: readonly RemoteServer[], now?: () => number) {
    this.#home = home
    this.#allowed = allowed
    this.own = new OwnKubeConfigs(home, allowed, now)
  }

  /**
   * Reads the current kubeConfig as the Kustomization's account, or as the worker if it has none, and returns its target.
   * `mayMake`: the node is approved, so a kubeconfig for its account may be created (see OwnKubeConfigs).
   * Throws `not-permitted` for a server that is not listed for the cluster under which the node was evaluated.
   */
  async open(node: RemoteNode, mayMake = false): Promise<RemoteTarget> {
    const { namespace, user, kubeConfig, cluster } = node
    const key = JSON.stringify([namespace, user, kubeConfig.kind, kubeConfig.name, kubeConfig.key, cluster])
    const turn = `${mayMake} ${key}`
    // several Kustomizations of a tenant share one
    const opening = this.#opening.get(turn) ?? this.#read(key, node, mayMake).finally(() => this.#opening.delete(turn))
    this.#opening.set(turn, opening)
    return await opening
  }

  close(): void {
    for (const { agent } of this.#servers.values()) agent.destroy()
    this.#servers.clear()
    this.#open.clear()
  }

  async #read(key: string, node: RemoteNode, mayMake: boolean): Promise<RemoteTarget> {
    const { namespace, kubeConfig: ref, user } = node
    if (!this.#allowed.some(({ cluster }) => cluster === node.cluster)) throw notListed(node)
    const known = this.#open.get(key)
    const reader: Actor = actsAsKubeConfig(user) ? 'worker' : { user }
    const made = mayMake && node.cluster === this.#home.name ? await this.own.keep(node) : undefined
    const access = made
      ? accessOfSecret({ namespace, ref }, made)
      : await readRemoteAccess(this.#home, { namespace, ref, reader }, known?.access)
    const server = this.#listed(node, access)
    const ca = readCertificates(server.ca)
    const remote = known && isSame(known, server, access, ca) ? known : await this.#connect(node, server, access, ca)
    this.#open.delete(key)
    this.#open.set(key, remote)
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= MAX_OPEN) break
      this.#open.delete(oldest)
    }
    return remote
  }

  #listed(node: RemoteNode, { server, serverName }: RemoteAccess): RemoteServer {
    const found = this.#allowed.find(one => one.cluster === node.cluster && one.server === server)
    if (found === undefined) throw notListed(node, server)
    if (serverName === '' || serverName === (found.serverName ?? new URL(found.server).hostname)) return found
    const where = placeText({ namespace: node.namespace, ref: node.kubeConfig })
    const message = `${where}: clusters[].cluster.tls-server-name: not allowed. Allowed: the name that clusters.yaml lists`
    throw new BailiwickError('not-permitted', message, { fix: 'Remove tls-server-name from the kubeconfig.' })
  }

  async #connect(node: RemoteNode, server: RemoteServer, access: RemoteAccess, ca: string): Promise<OpenRemote> {
    const where = placeText({ namespace: node.namespace, ref: node.kubeConfig })
    const name = `${server.cluster} (${where})`
    const servername = server.serverName === undefined ? {} : { servername: server.serverName }
    const credentials = { headers: access.headers, tls: { ...access.tls, ...servername, ca } }
    const client = apiClient({
      ...{ name, namespace: this.#home.namespace, server: this.#serverAt(server.server) },
      access: async () => credentials,
      // rejected credentials are a matter of their owner, not of the worker
      refused: (status, body) => {
        if (status !== 401) return clusterError(name, status, body)
        this.own.refuse(node)
        return notAccepted(where)
      },
    })
    // writes elsewhere are writes of this worker too: only while it holds the Lease of the home cluster
    const remote = this.#home.over?.(client) ?? client
    await assertEvaluatedAs(this.#home, remote, server, where)
    return { client: towards(this.#home, remote), server: server.server, access, ca }
  }

  #serverAt(address: string): ApiServer {
    const server = this.#servers.get(address) ?? apiServer(new URL(address))
    this.#servers.set(address, server)
    return server
  }
}

function isSame(open: OpenRemote, { server }: RemoteServer, { headers, tls }: RemoteAccess, ca: string): boolean {
  const before = open.access
  return (
    open.server === server &&
    open.ca === ca &&
    before.headers.Authorization === headers.Authorization &&
    before.tls.cert === tls.cert &&
    before.tls.key === tls.key
  )
}

/** Who applies goes to the API server of the kubeConfig; the worker itself stays at home. */
function towards(home: ClusterClient, remote: ClusterClient): ClusterClient {
  // the worker of a remote client is the user of the file
  const actorOf = (user: string): Actor => (actsAsKubeConfig(user) ? 'worker' : { user })
  return {
    name: home.name,
    namespace: home.namespace,
    // one of its own: by it is known who the worker is, which is another one than whose credentials the file has
    discovery: { ...remote.discovery },
    request: (actor, ...rest) =>
      actor === 'worker' ? home.request(actor, ...rest) : remote.request(actorOf(actor.user), ...rest),
    stream: (actor, ...rest) =>
      actor === 'worker' ? home.stream(actor, ...rest) : remote.stream(actorOf(actor.user), ...rest),
    // its server is shared
    close: () => {},
  }
}

function notListed({ namespace, kubeConfig, cluster }: RemoteNode, server?: string): BailiwickError {
  const where = placeText({ namespace, ref: kubeConfig })
  const what = server === undefined ? 'no API server is' : `the API server ${server.slice(0, 300)} is not`
  return new BailiwickError('not-permitted', `${where}: ${what} allowed for what is evaluated as ${cluster}`, {
    fix: 'List the server under `kubeConfigs` of this cluster in clusters.yaml, if it is this cluster.',
  })
}

function notAccepted(where: string): BailiwickError {
  return new BailiwickError('cluster-unavailable', `${where}: its API server does not accept its credentials`, {
    fix: 'Renew them.',
  })
}

const KUBE_SYSTEM = '/api/v1/namespaces/kube-system'

/**
 * Throws `not-permitted` where a kubeConfig leads to another cluster than the operator declares (the uid of kube-system
 * tells clusters apart, where both may be read), and where it has the credentials of the worker itself.
 */
export async function assertEvaluatedAs(
  home: ClusterClient,
  remote: ClusterClient,
  { cluster }: RemoteServer,
  where: string,
): Promise<void> {
  const isHome = cluster === home.name
  const [here, there] = await Promise.all([clusterUid(home), clusterUid(remote)])
  const isSame = here === there
  if (here !== '' && there !== '' && isSame !== isHome) {
    const leads = isSame ? 'leads to the cluster itself' : 'leads to another cluster'
    throw new BailiwickError('not-permitted', `${where}: ${leads}, and it was evaluated as ${cluster}`, {
      fix: 'Correct `cluster` of this server under `kubeConfigs` in clusters.yaml.',
    })
  }
  if (!isHome && !isSame) return
  const identity = await ownIdentity(home)
  if (identity !== '' && identity === (await ownIdentity(remote)))
    throw new BailiwickError('not-permitted', `${where}: holds the credentials of the worker itself`, {
      fix: 'Write a kubeconfig with an account of its own.',
    })
}

/** By what all views of one connection share. */
const uids = new WeakMap<ClusterClient['discovery'], Promise<string>>()

/** '' where the credentials may not read it. Asked once for each connection. */
function clusterUid(client: ClusterClient): Promise<string> {
  const { discovery } = client
  const known = uids.get(discovery)
  if (known) return known
  const asked = readUid(client)
  uids.set(discovery, asked)
  asked.catch(() => uids.delete(discovery))
  return asked
}

async function readUid(client: ClusterClient): Promise<string> {
  try {
    return stringAt((await client.request('worker', 'GET', KUBE_SYSTEM)).body, 'metadata', 'uid')
  } catch (error) {
    if (error instanceof ClusterError && error.status === 403) return ''
    throw error
  }
}
