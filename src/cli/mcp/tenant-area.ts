import type { FleetIndex } from '../../facts/fleet-index.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import type { Grant } from '../../kube/rbac/authorizer.ts'
import { displayRbac } from '../../kube/rbac/binding.ts'
import { userInfo } from '../../kube/rbac/groups-of.ts'
import { assertKnown } from '../assert-known.ts'
import { openFleet } from './open-fleet.ts'
import type { Roots } from './open-roots.ts'
import type { ToolArguments } from './read-arguments.ts'

/** What a tenant may do on each cluster: the Kustomizations that apply it, their accounts, and the rights of these accounts in its namespaces. */
export async function tenantArea(given: ToolArguments, roots: Roots) {
  const { fleet, clusters, index, unknown } = await openFleet(given, roots)
  const name = given.text('tenant')
  assertKnown('tenant', [name], new Set(fleet.tenants.map(tenant => tenant.name)))
  const areas = clusters.flatMap(cluster => {
    const nodes = fleet.nodes.filter(node => node.cluster === cluster && node.tenant === name)
    const namespaces = index.namespacesOf(cluster, name)
    return nodes.length + namespaces.length === 0 ? [] : [areaOf(index, cluster, namespaces, nodes)]
  })
  return { tenant: name, clusters: areas, unknown }
}

function areaOf(index: FleetIndex, cluster: string, namespaces: readonly string[], nodes: readonly FleetNode[]) {
  const authorizer = index.authorizer(cluster)
  const accounts = [...new Set(nodes.map(({ identity }) => identity.user))].sort()
  return {
    cluster,
    namespaces,
    kustomizations: nodes.map(({ namespace, name, source, path, identity, suspend }) => ({
      name: `${namespace}/${name}`,
      repository: source.url,
      ref: source.ref,
      path: path || '.',
      account: identity.user,
      suspended: suspend,
      ...(source.opaque === undefined ? {} : { notVisible: source.opaque }),
    })),
    accounts: accounts.map(account => {
      const held = (namespace: string) => rightsOf(authorizer.held(userInfo(account), namespace), namespace)
      return {
        account,
        rights: namespaces.map(namespace => ({ namespace, ...held(namespace) })),
        clusterWide: held(''),
      }
    }),
  }
}

type Held = ReturnType<ReturnType<FleetIndex['authorizer']>['held']>

/** The rights from bindings in one namespace; '' stands for cluster-wide bindings, which apply in every namespace. */
function rightsOf({ grants, unresolved }: Held, namespace: string) {
  const own = grants.filter(({ binding, rule }) => binding.namespace === namespace && rule.resources.length > 0)
  const unknown = unresolved.filter(binding => binding.namespace === namespace)
  return {
    allowed: own.map(rightOf),
    ...(unknown.length > 0 ? { unknownRoles: unknown.map(({ roleRef }) => `${roleRef.kind} ${roleRef.name}`) } : {}),
  }
}

function rightOf({ rule: { verbs, apiGroups, resources, resourceNames }, binding }: Grant) {
  const by = `${displayRbac(binding)}, ${binding.roleRef.kind} ${binding.roleRef.name}`
  return { verbs, apiGroups, resources, ...(resourceNames.length > 0 ? { resourceNames } : {}), by }
}
