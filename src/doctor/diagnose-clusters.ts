import { X509Certificate } from 'node:crypto'
import { refuseActiveController } from '../cluster/active-controller.ts'
import type { ClusterClient } from '../cluster/client.ts'
import { ClusterError } from '../cluster/cluster-error.ts'
import type { ClusterBinding } from '../cluster/clusters-file.ts'
import { connect } from '../cluster/connect.ts'
import { readCredentials } from '../cluster/credentials.ts'
import { stringAt } from '../cluster/json-at.ts'
import { ownIdentity } from '../cluster/own-target-reason.ts'
import { BailiwickError } from '../errors.ts'
import { visible } from '../message/visible.ts'
import { diagnoseRights } from './diagnose-rights.ts'
import { type Diagnosis, entriesOf } from './diagnosis.ts'

/** Time limit for each answer of an API server. */
const ANSWER_WITHIN_MS = 5_000
/** Clusters that are asked at once. */
const AT_ONCE = 8
const DAYS_LEFT = 14
const DAY_MS = 86_400_000

const { ok, bad } = entriesOf('clusters')

/**
 * Asks the API server of every cluster that this process applies to: whether it answers and is trusted, which version it has, whom it
 * takes the worker for, and whether that user may do what the worker does. Sends nothing but reads and reviews.
 */
export async function diagnoseClusters(bindings: readonly ClusterBinding[]): Promise<Diagnosis[]> {
  const found: Diagnosis[] = []
  for (let first = 0; first < bindings.length; first += AT_ONCE) {
    const some = await Promise.all(bindings.slice(first, first + AT_ONCE).map(diagnoseCluster))
    found.push(...some.flat())
  }
  return found
}

async function diagnoseCluster(binding: ClusterBinding): Promise<Diagnosis[]> {
  const { name, mode, kubeconfig, workerKey } = binding
  if (mode === 'gate') return [ok(`cluster ${name}: Flux applies (mode gate)`)]
  if (workerKey !== undefined && kubeconfig === undefined) {
    return [ok(`cluster ${name}: a worker in the cluster applies; run bailiwick doctor --process worker there`)]
  }
  let client: ClusterClient | undefined
  try {
    client = await connect(binding, { timeoutMs: ANSWER_WITHIN_MS })
    const version = stringAt((await client.request('worker', 'GET', '/version', { ahead: true })).body, 'gitVersion')
    const user = (await ownIdentity(client)) || 'a user that it does not name'
    return [
      ok(visible(`cluster ${name}: Kubernetes ${version} answers, the worker is ${user}`)),
      ...(await certificateOf(binding)),
      ...(await diagnoseRights(client, user, kubeconfig === undefined)),
      ...(await controllerOf(client)),
    ]
  } catch (error) {
    return [failed(name, error)]
  } finally {
    client?.close()
  }
}

async function certificateOf(binding: ClusterBinding): Promise<Diagnosis[]> {
  const { cert } = (await (await readCredentials(binding)).access()).tls
  if (typeof cert !== 'string' && !Buffer.isBuffer(cert)) return []
  const days = Math.floor((Date.parse(new X509Certificate(cert).validTo) - Date.now()) / DAY_MS)
  if (days >= DAYS_LEFT) return []
  const fix = 'Renew the client certificate of its kubeconfig.'
  return [bad('weak', `cluster ${binding.name}: the worker's certificate expires in ${days} days`, fix)]
}

async function controllerOf(client: ClusterClient): Promise<Diagnosis[]> {
  try {
    await refuseActiveController(client)
    return []
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    if (error instanceof ClusterError) return []
    return [bad('wrong', error.message, error.fix ?? '')]
  }
}

const UNTRUSTED = 'Put the certificate authority of its API server into certificate-authority-data of the kubeconfig.'
const UNREACHABLE = 'Check `server` of the kubeconfig, and that this machine reaches it.'

/** Remedies by what the connection failed with. */
const REMEDIES: Readonly<Record<string, string>> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  CERT_SIGNATURE_FAILURE: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID:
    'Use an address that the certificate of the API server names, or set tls-server-name in the kubeconfig.',
  CERT_HAS_EXPIRED: 'Renew the certificate of the API server, and check the clock of this machine.',
}

function failed(name: string, error: unknown): Diagnosis {
  if (!(error instanceof BailiwickError)) throw error
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException
  const message = error.message.startsWith(`cluster ${name}`) ? error.message : `cluster ${name}: ${error.message}`
  const remedy = (code === undefined ? undefined : REMEDIES[code]) ?? error.fix
  return bad('wrong', visible(message, 500), remedy ?? UNREACHABLE)
}
