import { knownResources } from '../../access/known-names.ts'
import { BailiwickError } from '../../errors.ts'
import { displayRbac } from '../../kube/rbac/binding.ts'
import { userInfo } from '../../kube/rbac/groups-of.ts'
import { ruleAllows } from '../../kube/rbac/rule-allows.ts'
import { resourceArgument } from '../resource-argument.ts'
import { openFleet } from './open-fleet.ts'
import type { Roots } from './open-roots.ts'
import type { ToolArguments } from './read-arguments.ts'

/** Every subject that may perform an action in a namespace, the bindings that allow it, and the fleet objects that are applied as that subject. */
export async function whoCan(given: ToolArguments, roots: Roots) {
  const [verb, resource, namespace] = [given.one('verb'), given.one('resource'), given.text('namespace')]
  if (verb === undefined || resource === undefined) {
    throw new BailiwickError('usage', 'verb and resource belong together', { fix: 'Give both, or neither.' })
  }
  const { fleet, clusters, index, unknown } = await openFleet(given, roots)
  const asked = resourceArgument(resource, knownResources(fleet, clusters))
  const request = { verb, apiGroup: asked.group, resource: asked.resource, namespace, name: asked.name }
  const answers = clusters.map(cluster => {
    const authorizer = index.authorizer(cluster)
    const bindings = ['', namespace].flatMap(place => authorizer.bindings.inNamespace(place))
    const allowing = bindings.filter(({ roleRef, namespace: place }) =>
      authorizer.rulesOf(roleRef, place)?.some(rule => ruleAllows(rule, request)),
    )
    const nodes = fleet.nodes.filter(node => node.cluster === cluster)
    return {
      cluster,
      allowed: allowing.flatMap(binding =>
        binding.subjects.map(({ kind, name, namespace: place }) => ({
          subject: `${kind} ${kind === 'ServiceAccount' ? `${place}/${name}` : name}`,
          by: `${displayRbac(binding)}, ${binding.roleRef.kind} ${binding.roleRef.name}`,
        })),
      ),
      appliedAs: nodes
        .filter(({ identity }) => authorizer.allows(userInfo(identity.user), request))
        .map(({ namespace: place, name, source, identity }) => ({
          kustomization: `${place}/${name}`,
          repository: source.url,
          account: identity.user,
        })),
      unknownRoles: bindings
        .filter(({ roleRef, namespace: place }) => !authorizer.rulesOf(roleRef, place))
        .map(
          binding =>
            `${displayRbac(binding)} names ${binding.roleRef.kind} ${binding.roleRef.name}, which is not in the fleet`,
        ),
    }
  })
  return { request, clusters: answers, unknown }
}
