import { X509Certificate } from 'node:crypto'
import { BailiwickError } from '../../base/errors.ts'
import { firstNames } from '../../base/name-list.ts'
import { visible } from '../../base/visible.ts'
import { refuseActiveController } from '../../cluster/active-controller.ts'
import { connect } from '../../cluster/api-client.ts'
import type { ClusterClient } from '../../cluster/client.ts'
import { ClusterError } from '../../cluster/cluster-error.ts'
import type { ClusterBinding } from '../../cluster/clusters-file.ts'
import { readCredentials } from '../../cluster/credentials.ts'
import { jsonAt, stringAt } from '../../cluster/json.ts'
import { ownIdentity } from '../../cluster/refused-targets.ts'
import { eachLimited } from '../../cluster/slots.ts'
import { readKustomizations } from '../../cluster/status/kustomizations.ts'
import { KUSTOMIZE_GROUP } from '../../kube/flux-kinds.ts'
import type { Json } from '../../kube/node.ts'
import { WORKER_RULES } from '../../verdict/audit/worker-rbac.ts'
import { type Diagnosis, entriesOf } from './diagnosis.ts'

/** Time limit for each answer of an API server. */
const ANSWER_WITHIN_MS = 5_000
/** Clusters that are asked at once. */
const AT_ONCE = 8
const DAYS_LEFT = 14
const DAY_MS = 86_400_000

const { ok, bad } = entriesOf('clusters')

/**
 * Checks the API server of every cluster that this process applies to: whether it answers and is trusted, its version,
 * the user that it takes the worker for, and whether that user has the worker's rights. Sends only reads and reviews.
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

/** Remedies by connection error. */
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

/** Access reviews at one API server at once. */
const RIGHTS_AT_ONCE = 16
const FEW = 5

/**
 * Whether the worker's user has the rights that it needs on this cluster: in every fleet, and for all of its
 * Kustomizations. Asks the API server for each account and namespace.
 */
async function diagnoseRights(client: ClusterClient, user: string, isInCluster: boolean): Promise<Diagnosis[]> {
  return [...(await rightsOf(client, user, isInCluster)), ...(await targetRightsOf(client, user))]
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

/** The worker applies as the accounts that Kustomizations name, and writes the status of every Kustomization. */
async function targetRightsOf(client: ClusterClient, user: string): Promise<Diagnosis[]> {
  const listed = await readKustomizations(client).catch(error => {
    // that this right is missing is listed already
    if (error instanceof ClusterError && error.status === 403) return 'forbidden' as const
    throw error
  })
  if (listed === 'forbidden') return []
  if (listed === undefined) {
    const fix = "Install Flux's CustomResourceDefinitions (flux install --export prints them)."
    return [bad('weak', `cluster ${client.name}: the API server does not know Kustomizations of Flux`, fix)]
  }
  const accounts = accountsOf([...listed.values()])
  const namespaces = [...new Set([...listed.values()].map(item => stringAt(item, 'metadata', 'namespace')))]
  const [notApplied, notWritten] = [
    await deniedOf(client, accounts.map(asAccount)),
    await unwritable(client, namespaces),
  ]
  const list = [
    ...notApplied.map(({ verb, namespace, name }) => `${verb} ${namespace}/${name}`),
    ...notWritten.map(
      ({ verb, resource, subresource, namespace }) => `${verb} ${resource}/${subresource} in ${namespace}`,
    ),
  ]
  if (list.length > 0) {
    const message = visible(`cluster ${client.name}: ${user} is not allowed to ${few(list)}`, 500)
    return [bad('wrong', message, rolesFor(client))]
  }
  const what = `impersonate ${allOf(accounts.length, 'account')} that its Kustomizations name`
  const where = `write their status in ${allOf(namespaces.length, 'namespace')}`
  return [ok(`cluster ${client.name}: the worker may ${what}, and ${where}`)]
}

/** The namespaces where it may not write the status; one request if it may everywhere. */
async function unwritable(client: ClusterClient, namespaces: readonly string[]): Promise<Need[]> {
  const everywhere = await deniedOf(client, [toStatus(undefined)])
  return everywhere.length === 0 ? [] : deniedOf(client, namespaces.map(toStatus))
}

const allOf = (count: number, what: string) => (count === 1 ? `the ${what}` : `each of the ${count} ${what}s`)

const asAccount = ({ namespace, name }: Account): Need => ({
  ...{ verb: 'impersonate', group: '', resource: 'serviceaccounts', namespace, name },
})

const toStatus = (namespace: string | undefined): Need => ({
  ...{ verb: 'patch', group: KUSTOMIZE_GROUP, resource: 'kustomizations', subresource: 'status' },
  ...(namespace === undefined ? {} : { namespace }),
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

/** The rights that the API server denies the worker's user. */
async function deniedOf(client: ClusterClient, needs: readonly Need[]): Promise<Need[]> {
  const answers: boolean[] = []
  await eachLimited([...needs.entries()], RIGHTS_AT_ONCE, async ([index, need]) => {
    const { verb, group, resource, subresource, namespace, name } = need
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
    answers[index] = jsonAt(answer.body, 'status', 'allowed') === true
  })
  return needs.filter((_, index) => !answers[index])
}

const rolesFor = ({ name }: ClusterClient) =>
  `Bind this user to the roles that bailiwick worker-rbac FLEET --cluster ${name} prints.`

const few = (list: readonly string[]) => firstNames(list, FEW)
