import { gatedBranches } from '../audit/gated-branches.ts'
import { followedBy } from '../facts/source-ref.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import type { GatedBranch } from '../fleet/model/fleet-config.ts'
import { declarationKey } from '../fleet/model/source-access.ts'
import { GIT_REPOSITORY } from '../flux/kinds.ts'
import { groupOf, idOf } from '../kube/object.ts'

/**
 * Lists the branches that are gated because a fleet deploys from them or lists them. A tenant's declaration gates only
 * the repository that contains it, and one whose admin brought it.
 */
export function followedBases(fleet: Fleet, own: GatedBranch): GatedBranch[] {
  const all = [...gatedBranches(fleet, own), ...declaredByTenants(fleet)]
  return [...new Map(all.map(one => [JSON.stringify([one.url, one.branch]), one])).values()]
}

function declaredByTenants(fleet: Fleet): GatedBranch[] {
  return fleet.nodes.flatMap(node => {
    if (node.tenant === undefined) return []
    return node.objects.flatMap(object => {
      const { kind, apiVersion, namespace, name } = idOf(object)
      if (`${groupOf(apiVersion)}/${kind}` !== GIT_REPOSITORY) return []
      const { url, ref } = followedBy(object, fleet.config.aliases)
      const key = declarationKey(node.cluster, `${kind}/${namespace}/${name}`)
      const isTheirs = url === node.source.url || fleet.access?.declarations.get(key)?.adopted === true
      return isTheirs && ref.branch !== undefined ? [{ url, branch: ref.branch }] : []
    })
  })
}
