import { isKustomizationKind } from '../../flux/flux-object.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { nodeKey } from '../model/node-key.ts'
import { SOURCE_GROUPS } from '../sources/source-index.ts'
import { CAPSULE_GROUP, nameOfOwner, readCapsuleTenants } from '../tenancy/capsule.ts'
import { attempt } from './attempt.ts'
import type { Draft } from './draft.ts'
import { enqueue } from './enqueue.ts'
import type { Walk } from './walk.ts'

/**
 * Takes note of what a node's last complete build says about tenants. At once: whose a namespace is decides how everything
 * in it is read. Whatever is rendered now says more.
 */
export function keepTenants(walk: Walk, { tenant, retained = [] }: Draft): void {
  if (tenant !== undefined) return
  const capsule: KubeObject[] = []
  for (const object of retained) {
    const { apiVersion, kind } = idOf(object)
    const group = groupOf(apiVersion)
    if (group === CAPSULE_GROUP) capsule.push(object)
    else if (group === '' && kind === 'Namespace') walk.tenancy.keepDeclared(object)
  }
  const tenants = readCapsuleTenants(capsule)
  if (tenants.length === 0) return
  for (const { owners } of tenants) for (const owner of owners) walk.capsule.add(nameOfOwner(owner))
  walk.tenancy.capsule.add(tenants)
}

/**
 * Takes note of the sources, values and Kustomizations of last complete builds, of one side. Only when nothing that is
 * rendered now is left on that side: where both say something, what is rendered now counts. False: there was nothing.
 */
export function releaseRetained(walk: Walk, side: 'platform' | 'tenants'): boolean {
  const drafts = walk.incomplete[side].splice(0)
  for (const draft of drafts) {
    for (const object of draft.retained ?? []) release(walk, draft, object)
  }
  return drafts.length > 0
}

function release(walk: Walk, draft: Draft, object: KubeObject): void {
  const id = idOf(object)
  const group = groupOf(id.apiVersion)
  const { tenant } = draft
  if (tenant !== undefined && walk.tenancy.owners.get(id.namespace) !== tenant) return
  if (SOURCE_GROUPS.has(group)) {
    const known = walk.index.find(`${id.kind}/${id.namespace}/${id.name}`)
    if (!known || known === 'bootstrap') attempt(draft, () => walk.index.add(object, draft))
  } else if (group === '') {
    const isKnown = walk.values.has(`${id.kind}/${id.namespace}/${id.name}`)
    const added = isKnown ? undefined : walk.values.add(object)
    if (added !== undefined) for (const claim of walk.blocked.release(added)) enqueue(walk, claim)
  } else if (isKustomizationKind(group, id.kind)) {
    const key = nodeKey(walk.cluster, id)
    // a root that follows something else now is not what it was, and no other one for that
    if (key !== draft.key && !walk.claimed.has(key)) enqueue(walk, { kustomization: object, parent: draft })
  }
}
