import { FleetIndex } from '../facts/fleet-index.ts'
import { installedControllers } from '../fleet/lockdown/lockdown-flags.ts'
import { accountOf, applierKinds, kubeConfigOf } from '../fleet/model/appliers.ts'
import type { Fleet, FleetNode, Lockdown } from '../fleet/model/fleet.ts'
import { whyIncomplete } from '../fleet/model/why-incomplete.ts'
import { KUSTOMIZATION } from '../flux/kinds.ts'
import { references } from '../flux/references.ts'
import { display, groupOf, idOf, type KubeObject } from '../kube/object.ts'
import { type CustomKinds, neededRequests } from '../kube/rbac/apply-requests.ts'
import { userInfo, userOfAccount } from '../kube/rbac/groups-of.ts'

/** One flag of the lockdown, in the order in which they break the least. */
export interface LockdownStep {
  readonly flag: 'no-remote-bases' | 'no-cross-namespace-refs' | 'default-service-account'
  readonly value: string
  /** Whether it is on. */
  isSet(lockdown: Lockdown): boolean
  /** What would stop working with it, each in a sentence. `after`: the fleet with the flag. */
  breaks(fleets: { before: Fleet; after: Fleet }, cluster: string, custom: CustomKinds): string[]
}

/** A Kustomization whose content is not known may hold anything. */
function notVisible({ nodes }: Fleet, cluster: string): string[] {
  return nodes.flatMap(node => {
    const why = node.cluster === cluster ? (node.source.opaque ?? whyIncomplete(node)?.message) : undefined
    return why === undefined ? [] : [`${node.key} is not visible: ${why}`]
  })
}

/** The steps: bases first, then references, and the accounts when everything has one. */
export const LOCKDOWN_STEPS: readonly LockdownStep[] = [
  {
    flag: 'no-remote-bases',
    value: 'true',
    isSet: lockdown => lockdown.noRemoteBases,
    breaks: ({ before, after }, cluster) => {
      const fails = after.nodes.filter(node => {
        const was = before.nodes.find(({ key }) => key === node.key)
        return (
          node.cluster === cluster &&
          whyIncomplete(node) !== undefined &&
          whyIncomplete(was ?? node)?.message !== whyIncomplete(node)?.message
        )
      })
      const remote = after.nodes.filter(node => node.cluster === cluster && (node.remotes ?? []).length > 0)
      const names = new Set([...fails, ...remote].map(({ key }) => key))
      return [...notVisible(before, cluster), ...[...names].map(key => `${key} loads a remote base`)]
    },
  },
  {
    flag: 'no-cross-namespace-refs',
    value: 'true',
    isSet: lockdown => lockdown.noCrossNamespaceRefs,
    breaks: ({ before }, cluster) => [
      ...notVisible(before, cluster),
      ...objectsOn(before, cluster).flatMap(({ object }) =>
        references(object)
          .filter(one => one.refusedByFlux && one.namespace !== idOf(object).namespace)
          .map(one => `${display(idOf(object))} refers to ${one.kind} ${one.namespace}/${one.name}`),
      ),
    ],
  },
  {
    flag: 'default-service-account',
    value: 'default',
    isSet: ({ defaultServiceAccount, helmDefaultServiceAccount, flux }) =>
      defaultServiceAccount !== undefined &&
      (helmDefaultServiceAccount !== undefined || !(flux && installedControllers(flux).includes('helm-controller'))),
    breaks: ({ before, after }, cluster, custom) => [
      ...notVisible(before, cluster),
      ...refusedKustomizations(after, cluster, custom),
      ...refusedReleases(after, cluster),
    ],
  },
]

function objectsOn({ nodes }: Fleet, cluster: string): { readonly node: FleetNode; readonly object: KubeObject }[] {
  const here = nodes.filter(node => node.cluster === cluster)
  return here.flatMap(node => node.objects.map(object => ({ node, object })))
}

/** Kustomizations that the default account would apply, and is refused something of. */
function refusedKustomizations(after: Fleet, cluster: string, custom: CustomKinds): string[] {
  const authorizer = new FleetIndex(after).authorizer(cluster)
  return after.nodes.flatMap(node => {
    const { user } = node.identity
    const isRoot = node.parent === undefined
    if (node.cluster !== cluster || node.hub !== undefined || isRoot || !isDefaulted(node, after)) return []
    const { requests, unknown } = neededRequests(node, custom)
    if (unknown.length > 0) return [`${node.key} has no account, and ${unknown[0]}`]
    const refused = requests.find(({ request }) => !authorizer.allows(userInfo(user), request))
    return refused ? [`${node.key} has no account, and ${user} may not ${refused.request.verb} ${refused.about}`] : []
  })
}

/** Whether it is the flag that gives a Kustomization its account. */
function isDefaulted(node: FleetNode, { clusters }: Fleet): boolean {
  const lockdown = clusters.find(({ name }) => name === node.cluster)?.lockdown
  return accountOf(node.kustomization, undefined) === undefined && accountOf(node.kustomization, lockdown) !== undefined
}

/** What their charts render is not visible, so only an account that may do everything is known to be enough. */
function refusedReleases(after: Fleet, cluster: string): string[] {
  const authorizer = new FleetIndex(after).authorizer(cluster)
  const lockdown = after.clusters.find(({ name }) => name === cluster)?.lockdown
  return objectsOn(after, cluster).flatMap(({ object }) => {
    const id = idOf(object)
    const kind = `${groupOf(id.apiVersion)}/${id.kind}`
    if (kind === KUSTOMIZATION || !applierKinds.includes(kind) || kubeConfigOf(object)) return []
    const account = accountOf(object, lockdown)
    if (accountOf(object, undefined) !== undefined || account === undefined) return []
    const user = userInfo(userOfAccount(id.namespace, account))
    const all = { verb: '*', apiGroup: '*', resource: '*', namespace: '', name: '' }
    return authorizer.allows(user, all) ? [] : [`${display(id)} has no account, and what it renders is not visible`]
  })
}
