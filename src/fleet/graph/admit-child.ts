import { BailiwickError, type ErrorCode } from '../../errors.ts'
import { originAt } from '../../kube/node.ts'
import { display, idOf } from '../../kube/object.ts'
import { nodeKey } from '../model/node-key.ts'
import { isSameSpec } from '../model/same-spec.ts'
import type { Claim, Draft } from './draft.ts'
import { openNode } from './open-node.ts'
import type { Walk } from './walk.ts'

/** No real fleet nests deeper; endless ones stop here. */
const MAX_DEPTH = 16
/** Kustomizations of one tenant on one cluster: a tenant who makes more stops only themselves. */
const MAX_TENANT_NODES = 1_000
const MAX_PLATFORM_NODES = 20_000

/**
 * Whether a rendered Kustomization becomes a node. What may not is an error of the node that renders it; a tenant's
 * Kustomization in a namespace that is not theirs is left to the rule `namespace-confinement`, and never followed.
 */
export function admitChild(walk: Walk, claim: Claim): boolean {
  const { parent, kustomization } = claim
  const id = idOf(kustomization)
  const key = nodeKey(walk.cluster, id)
  if (key === parent.key) {
    // Every bootstrapped fleet renders its own root; only a different one would be a fight.
    if (!isSameSpec(kustomization, parent.kustomization) && !rendersSame(walk, claim)) {
      refuse(
        claim,
        'graph-conflict',
        `${display(id)}: renders another version of itself. Allowed: the version that declares it`,
        `${display(id)} renders itself differently from what declares it`,
      )
    }
    return false
  }
  if (parent.tenant !== undefined && walk.tenancy.owners.get(id.namespace) !== parent.tenant) return false
  const known = walk.drafts.get(key)
  if (known) {
    // two of the platform that say the same leave nothing open
    const isPlatforms = parent.tenant === undefined && tenantOfParent(walk, known) === undefined
    if (isPlatforms && isSameSpec(kustomization, known.kustomization)) return false
    refuse(
      claim,
      'graph-conflict',
      `${display(id)}: rendered twice on cluster ${walk.cluster}. Allowed: one Kustomization of this name`,
      `${display(id)} is rendered twice on cluster ${walk.cluster}`,
    )
    return false
  }
  const limit = parent.tenant === undefined ? MAX_PLATFORM_NODES : MAX_TENANT_NODES
  if ((walk.counts.get(parent.tenant ?? '') ?? 0) >= limit) {
    refuse(claim, 'graph-limits', `cluster ${walk.cluster}: more than ${limit} Kustomizations of one owner`)
    return false
  }
  if (depthOf(walk, parent.key) >= MAX_DEPTH) {
    refuse(claim, 'graph-limits', `Kustomizations are nested more than ${MAX_DEPTH} levels deep`)
    return false
  }
  return true
}

/** Whether what a Kustomization says of itself applies what the version does that declares it, with the same rights. */
function rendersSame(walk: Walk, { kustomization, parent }: Claim): boolean {
  if (parent.tenant !== undefined) return false
  const { artifacts, missed, whole } = walk
  // what the node itself was rendered from stays as it is
  const apart = { ...walk, artifacts: new Map(artifacts), missed: new Map(missed), whole: new Set(whole) }
  const other = openNode(apart, kustomization, parent)
  if (!('key' in other) || other.digest === '' || other.error) return false
  const { digest, identity, cluster, suspend, source } = parent
  return (
    other.digest === digest &&
    other.identity.user === identity.user &&
    other.cluster === cluster &&
    other.suspend === suspend &&
    other.source.id === source.id
  )
}

/** Tenant of the node that renders a node's Kustomization. */
const tenantOfParent = (walk: Walk, { parent }: Draft) =>
  parent === undefined ? undefined : walk.drafts.get(parent)?.tenant

function depthOf(walk: Walk, key: string): number {
  let depth = 0
  for (
    let here = walk.drafts.get(key);
    here;
    here = here.parent === undefined ? undefined : walk.drafts.get(here.parent)
  )
    depth++
  return depth
}

function refuse({ parent, kustomization }: Claim, code: ErrorCode, message: string, identity = message): void {
  const origin = originAt(kustomization.root, ['metadata', 'name'])
  // a tenant who renders what someone else renders breaks a rule; the platform's own conflicts cannot be decided
  const rule = code === 'graph-conflict' && parent.tenant !== undefined ? 'ownership-conflict' : undefined
  parent.error ??= new BailiwickError(code, message, {
    origin,
    rule,
    fix: 'Remove this Kustomization, or rename it.',
    identity,
  })
}
