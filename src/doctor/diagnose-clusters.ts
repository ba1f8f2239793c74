import { X509Certificate } from 'node:crypto'
import { WORKER_RULES } from '../access/worker-rbac.ts'
import { refuseActiveController } from '../cluster/active-controller.ts'
import type { ClusterClient } from '../cluster/client.ts'
import { ClusterError } from '../cluster/cluster-error.ts'
import type { ClusterBinding } from '../cluster/clusters-file.ts'
import { connect } from '../cluster/connect.ts'
import { readCredentials } from '../cluster/credentials.ts'
import { itemsAt, jsonAt, stringAt } from '../cluster/json-at.ts'
import { ownIdentity } from '../cluster/own-target-reason.ts'
import { BailiwickError } from '../errors.ts'
import { KUSTOMIZE_GROUP } from '../flux/kinds.ts'
import type { Json } from '../kube/node.ts'
import { visible } from '../message/visible.ts'
import { type Diagnosis, entriesOf } from './diagnosis.ts'

/** Time limit for each answer of an API server. */
const ANSWER_WITHIN_MS = 5_000
/** Clusters that are asked at once. */
const AT_ONCE = 8
/** So many accounts and namespaces are asked about. */
const MOST_ASKED = 200
const FEW = 5
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
      ...(await rightsOf(client, user, kubeconfig === undefined)),
      ...(await impersonationOf(client, user)),
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

interface Need {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
}

async function rightsOf(client: ClusterClient, user: string, isInCluster: boolean): Promise<Diagnosis[]> {
  const { cluster, ownNamespace } = WORKER_RULES
  // the Lease decides between replicas of a worker in the cluster
  const own = ownNamespace.filter(({ resources }) => isInCluster || !resources.includes('leases'))
  const needs = [...needsOf(cluster, {}), ...needsOf(own, { namespace: client.namespace })]
  const missing = await deniedOf(client, needs)
  if (missing.length === 0)
    return [ok(`cluster ${client.name}: the worker has the rights that it needs in every fleet`)]
  const list = missing.map(({ verb, group, resource, namespace }) => {
    return `${verb} ${resource}${group === '' ? '' : `.${group}`}${namespace === undefined ? '' : ` in ${namespace}`}`
  })
  const message = visible(`cluster ${client.name}: ${user} is not allowed to ${few(list)}`, 500)
  return [bad('wrong', message, rolesFor(client))]
}

function needsOf(
  rules: (typeof WORKER_RULES)['cluster'] | (typeof WORKER_RULES)['ownNamespace'],
  at: Pick<Need, 'namespace'>,
) {
  return rules.flatMap(({ apiGroups, resources, verbs, ...rule }): Need[] => {
    const names: readonly (string | undefined)[] = 'resourceNames' in rule ? rule.resourceNames : [undefined]
    return resources.flatMap(resource =>
      verbs.flatMap(verb =>
        names.map(name => ({
          verb,
          group: apiGroups[0] ?? '',
          resource,
          ...at,
          ...(name === undefined ? {} : { name }),
        })),
      ),
    )
  })
}

/** The accounts that the Kustomizations on the cluster name: the worker applies as these. */
async function impersonationOf(client: ClusterClient, user: string): Promise<Diagnosis[]> {
  const listed = await client
    .request('worker', 'GET', `/apis/${KUSTOMIZE_GROUP}/v1/kustomizations`, { query: { limit: '5000' } })
    .catch(error => {
      // that this right is missing is listed already
      if (error instanceof ClusterError && error.status === 403) return undefined
      throw error
    })
  if (!listed) return []
  if (listed.status === 404) {
    const fix = "Install Flux's CustomResourceDefinitions (flux install --export prints them)."
    return [bad('weak', `cluster ${client.name}: the API server does not know Kustomizations of Flux`, fix)]
  }
  const kustomizations = itemsAt(listed.body, 'items')
  const accounts = accountsOf(kustomizations)
  const namespaces = new Set(kustomizations.map(item => stringAt(item, 'metadata', 'namespace')))
  const [asked, places] = [accounts.slice(0, MOST_ASKED), [...namespaces].slice(0, MOST_ASKED)]
  const denied = await deniedOf(client, [...asked.map(asAccount), ...places.map(toStatus)])
  if (denied.length > 0) {
    const list = denied.map(({ verb, resource, subresource, namespace, name }) =>
      name === undefined ? `${verb} ${resource}/${subresource} in ${namespace}` : `${verb} ${namespace}/${name}`,
    )
    const message = visible(`cluster ${client.name}: ${user} is not allowed to ${few(list)}`, 500)
    return [bad('wrong', message, rolesFor(client))]
  }
  const isAll = stringAt(listed.body, 'metadata', 'continue') === '' && asked.length === accounts.length
  const what = `${isAll ? 'each account' : `the first ${asked.length} accounts`} that its Kustomizations name`
  return [ok(`cluster ${client.name}: the worker may impersonate ${what}`)]
}

const asAccount = ({ namespace, name }: Account): Need => ({
  ...{ verb: 'impersonate', group: '', resource: 'serviceaccounts', namespace, name },
})

const toStatus = (namespace: string): Need => ({
  ...{ verb: 'patch', group: KUSTOMIZE_GROUP, resource: 'kustomizations', subresource: 'status', namespace },
})

interface Account {
  readonly namespace: string
  readonly name: string
}

function accountsOf(kustomizations: readonly Json[]): Account[] {
  const accounts = kustomizations.flatMap(item => {
    const [namespace, name] = [stringAt(item, 'metadata', 'namespace'), stringAt(item, 'spec', 'serviceAccountName')]
    const isElsewhere = jsonAt(item, 'spec', 'kubeConfig') !== undefined
    return name === '' || isElsewhere ? [] : [[`${namespace}/${name}`, { namespace, name }] as const]
  })
  return [...new Map(accounts).values()]
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

/** What of this the worker's user is not allowed to do, by the API server's own answer. */
async function deniedOf(client: ClusterClient, needs: readonly Need[]): Promise<Need[]> {
  const answers = await Promise.all(
    needs.map(async ({ verb, group, resource, subresource, namespace, name }) => {
      const resourceAttributes = {
        ...{ verb, group, resource },
        ...(subresource === undefined ? {} : { subresource }),
        ...(namespace === undefined ? {} : { namespace }),
        ...(name === undefined ? {} : { name }),
      }
      const body = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes },
      }
      const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
      const answer = await client.request('worker', 'POST', path, { body })
      return jsonAt(answer.body, 'status', 'allowed') === true
    }),
  )
  return needs.filter((_, index) => !answers[index])
}

const rolesFor = ({ name }: ClusterClient) =>
  `Bind this user to the roles that bailiwick worker-rbac FLEET --cluster ${name} prints.`

const few = (list: readonly string[]) =>
  `${list.slice(0, FEW).join(', ')}${list.length > FEW ? ` and ${list.length - FEW} more` : ''}`

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
