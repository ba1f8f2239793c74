import { WORKER_RULES } from '../access/worker-rbac.ts'
import type { ClusterClient } from '../cluster/client.ts'
import { ClusterError } from '../cluster/cluster-error.ts'
import { eachLimited } from '../cluster/each-limited.ts'
import { jsonAt, stringAt } from '../cluster/json-at.ts'
import { readKustomizations } from '../cluster/status/kustomizations.ts'
import { KUSTOMIZE_GROUP } from '../flux/kinds.ts'
import type { Json } from '../kube/node.ts'
import { firstNames } from '../message/and-more.ts'
import { visible } from '../message/visible.ts'
import { type Diagnosis, entriesOf } from './diagnosis.ts'

/** Questions to one API server at once. */
const AT_ONCE = 16
const FEW = 5

const { ok, bad } = entriesOf('clusters')

/**
 * Whether the worker's user may do what the worker does on this cluster: in every fleet, and for all of its Kustomizations. Asks the API
 * server for each account and namespace, however many.
 */
export async function diagnoseRights(client: ClusterClient, user: string, isInCluster: boolean): Promise<Diagnosis[]> {
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

/** As the accounts that its Kustomizations name the worker applies, and it writes the status of every Kustomization. */
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

/** The namespaces where it may not write the status; one question if it may everywhere. */
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

/** What of this the worker's user is not allowed to do, by the API server's own answer. */
async function deniedOf(client: ClusterClient, needs: readonly Need[]): Promise<Need[]> {
  const answers: boolean[] = []
  await eachLimited([...needs.entries()], AT_ONCE, async ([index, need]) => {
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
