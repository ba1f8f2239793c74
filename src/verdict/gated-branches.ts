import { followedBy } from '../fleet/facts/sources.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import type { GatedBranch } from '../fleet/model/fleet-config.ts'
import { declarationKey } from '../fleet/model/source-access.ts'
import { GIT_REPOSITORY } from '../kube/flux-kinds.ts'
import { groupOf, idOf } from '../kube/object.ts'

/**
 * Lists the branches that must require the Bailiwick check: the fleet's own first, then every branch that a platform
 * source or a cluster root follows, and those under `gatedBranches`. Addresses are normalized; no branch appears twice.
 */
export function gatedBranches(fleet: Fleet, own: GatedBranch): GatedBranch[] {
  const roots = fleet.nodes
    .filter(node => node.parent === undefined && node.source.url !== '')
    .map(({ source }) => ({ url: source.url, ref: source.ref }))
  const declared = fleet.nodes
    .filter(node => node.tenant === undefined)
    .flatMap(node => node.objects)
    .filter(object => {
      const { kind, apiVersion } = idOf(object)
      return `${groupOf(apiVersion)}/${kind}` === GIT_REPOSITORY
    })
    .map(object => followedBy(object, fleet.config.aliases))
  const followed = [...roots, ...declared].flatMap(({ url, ref }) =>
    ref.branch !== undefined && url.startsWith('https://') ? [{ url, branch: ref.branch }] : [],
  )
  const others = new Map([...followed, ...fleet.config.gatedBranches].map(one => [keyOf(one), one]))
  others.delete(keyOf(own))
  return [own, ...[...others].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)]
}

const keyOf = ({ url, branch }: GatedBranch) => JSON.stringify([url, branch])

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
