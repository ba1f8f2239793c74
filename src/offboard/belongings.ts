import { BailiwickError } from '../errors.ts'
import { applierKinds } from '../fleet/model/appliers.ts'
import type { Cluster, Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { TENANT_LABEL_KEY } from '../flux/kinds.ts'
import { at, type Node, stringAt } from '../kube/node.ts'
import { display, groupOf, idOf, type KubeObject } from '../kube/object.ts'
import { accountOf } from '../kube/rbac/groups-of.ts'
import { readRole } from '../kube/rbac/read-role.ts'
import type { OffboardStage } from './request.ts'

/** An object that the platform renders on a cluster. */
export interface Placed {
  readonly node: FleetNode
  readonly object: KubeObject
}

/** One that belongs to the tenant, and the change that removes it. */
export interface Belonging extends Placed {
  readonly stage: Extract<OffboardStage, 'workloads' | 'rest'>
}

/** Whose things are looked for on a cluster. */
interface Owner {
  readonly tenant: string
  readonly namespaces: ReadonlySet<string>
  readonly cluster: Cluster
}

/**
 * Everything that the platform renders for a tenant on these clusters. What the tenant's own Kustomizations apply is not
 * part of it: they prune that themselves. Throws `offboard-layout` for a binding that the tenant shares with others.
 */
export function belongings(fleet: Fleet, tenant: string, clusters: readonly string[]): Belonging[] {
  const own = fleet.nodes.filter(node => node.tenant === tenant && clusters.includes(node.cluster))
  const keys = new Set(own.map(({ key }) => key))
  const lone = loneSources(fleet, own, tenant)
  return fleet.clusters.flatMap(cluster => {
    if (!clusters.includes(cluster.name)) return []
    const owners = [...(cluster.owners ?? [])].filter(([, owner]) => owner === tenant)
    const owner: Owner = { tenant, namespaces: new Set(owners.map(([namespace]) => namespace)), cluster }
    return fleet.nodes
      .filter(node => node.cluster === cluster.name && node.tenant === undefined)
      .flatMap(node =>
        node.objects.flatMap((object): Belonging[] => {
          if (isApplied(node, object, keys)) return [{ node, object, stage: 'workloads' }]
          if (isOf(object, owner)) return [{ node, object, stage: isApplier(object) ? 'workloads' : 'rest' }]
          return lone.has(sourceKey(node, object)) ? [{ node, object, stage: 'workloads' }] : []
        }),
      )
  })
}

/** Whether an object is the Kustomization of one of the tenant's nodes. */
function isApplied({ hub, cluster }: FleetNode, object: KubeObject, keys: ReadonlySet<string>): boolean {
  const { kind, namespace, name } = idOf(object)
  return isApplier(object) && kind === 'Kustomization' && keys.has(`${hub ?? cluster}/${namespace}/${name}`)
}

/** A controller applies it as an account, and its finalizer deletes as that account. */
function isApplier(object: KubeObject): boolean {
  const { apiVersion, kind } = idOf(object)
  return applierKinds.includes(`${groupOf(apiVersion)}/${kind}`)
}

/** Sources that stand in a namespace of the platform, and that only the tenant's nodes follow: no prune needs a source. */
function loneSources(fleet: Fleet, own: readonly FleetNode[], tenant: string): Set<string> {
  const others = new Set(fleet.nodes.filter(node => node.tenant !== tenant).map(sourceOf))
  return new Set(own.map(sourceOf).filter(key => !others.has(key)))
}

const sourceOf = ({ hub, cluster, source }: FleetNode) => `${hub ?? cluster} ${source.id}`

function sourceKey({ cluster }: FleetNode, object: KubeObject): string {
  const { kind, namespace, name } = idOf(object)
  return `${cluster} ${kind}/${namespace}/${name}`
}

function isOf(object: KubeObject, owner: Owner): boolean {
  const { apiVersion, kind, namespace, name } = idOf(object)
  const group = groupOf(apiVersion)
  if (group === '' && kind === 'Namespace') return owner.namespaces.has(name)
  if (owner.namespaces.has(namespace)) return true
  if (stringAt(object.root, ['metadata', 'labels', TENANT_LABEL_KEY]) === owner.tenant) return true
  if (group === 'capsule.clastix.io' && kind === 'Tenant') return name === owner.tenant
  if (group !== 'rbac.authorization.k8s.io') return false
  return kind.endsWith('Binding') ? isBindingOf(object, owner) : isImpersonatorOf(object, owner)
}

/** A role that only allows to impersonate accounts of the tenant, for Capsule's proxy. Its bindings are removed too. */
function isImpersonatorOf(object: KubeObject, { namespaces }: Owner): boolean {
  const rules = readRole(object)?.rules ?? []
  return (
    rules.length > 0 &&
    rules.every(({ verbs, resourceNames }) => {
      const isOwn = (name: string) => namespaces.has(accountOf(name)?.namespace ?? '')
      return verbs.every(verb => verb === 'impersonate') && resourceNames.length > 0 && resourceNames.every(isOwn)
    })
  )
}

/** A right that outlives an account is the right of everybody who makes one of that name. */
function isBindingOf(object: KubeObject, { tenant, namespaces, cluster }: Owner): boolean {
  const subjects = at(object.root, ['subjects'])
  if (subjects?.type !== 'list') return false
  const own = subjects.items.filter(subject => namespaces.has(namespaceOf(subject)))
  const [first] = own
  if (!first) return false
  if (own.length === subjects.items.length) return true
  throw new BailiwickError(
    'offboard-layout',
    `${display(idOf(object))} on ${cluster.name}: binds accounts of tenant ${tenant} and others`,
    { fix: `Remove the accounts of ${tenant} from its subjects, then run the command again.`, origin: first.origin },
  )
}

/** The namespace of the accounts that a binding's subject names; '' for any other subject. */
function namespaceOf(subject: Node): string {
  const name = stringAt(subject, ['name']) ?? ''
  if (stringAt(subject, ['kind']) === 'ServiceAccount') return stringAt(subject, ['namespace']) ?? ''
  const [, account, group, flux] =
    /^(?:system:serviceaccount:([^:]+):.*|system:serviceaccounts:(.+)|gotk:([^:]+):.*)$/.exec(name) ?? []
  return account ?? group ?? flux ?? ''
}
