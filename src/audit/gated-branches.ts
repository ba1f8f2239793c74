import { followedBy } from '../facts/source-ref.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import type { GatedBranch } from '../fleet/model/fleet-config.ts'
import { GIT_REPOSITORY } from '../flux/kinds.ts'
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
