import { BailiwickError } from '../../errors.ts'
import type { ClusterClient } from '../client.ts'
import { ClusterError } from '../cluster-error.ts'
import { stringAt } from '../json-at.ts'
import { ownIdentity } from '../own-target-reason.ts'
import type { RemoteServer } from '../remote-servers.ts'

const KUBE_SYSTEM = '/api/v1/namespaces/kube-system'

/**
 * Throws `not-permitted` where a kubeConfig shows that it leads elsewhere than the operator says: the uid of kube-system tells
 * clusters apart, where both may be read; and the credentials of the worker itself are no kubeConfig of anybody.
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
