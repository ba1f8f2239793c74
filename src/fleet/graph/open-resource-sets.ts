import { OPERATOR_GROUP } from '../../flux/kinds.ts'
import { stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { userOfAccount } from '../../kube/rbac/groups-of.ts'
import { accountOf } from '../model/appliers.ts'
import { digestOfTexts } from '../model/digest.ts'
import type { FleetNode, Identity } from '../model/fleet.ts'
import { nodeKey } from '../model/node-key.ts'
import { renderResourceSet, setsIn } from '../resource-sets/render-resource-set.ts'
import type { Draft } from './draft.ts'
import { objectTexts } from './object-texts.ts'
import type { Walk } from './walk.ts'

/** ResourceSets of ResourceSets; the operator has no limit. */
const MAX_NESTING = 4
/** Objects that all ResourceSets of a cluster make. */
export const MAX_OBJECTS = 50_000
const PREFIX = 'resourceset:'

/** Whether a node is what the Flux Operator makes of a ResourceSet, and not a Flux Kustomization. */
export const isSetNode = ({ name }: Pick<FleetNode, 'name'>): boolean => name.startsWith(PREFIX)

/** Key of the node of a ResourceSet; no Kustomization is called so. */
export function setKey(cluster: string, set: KubeObject): string {
  const { namespace, name } = idOf(set)
  return nodeKey(cluster, { namespace, name: `${PREFIX}${name}` })
}

/**
 * The nodes of the ResourceSets that the platform renders, with what is known of what they make. Those of tenants are
 * evaluated as objects in objects, by the rules about what controllers make.
 */
export function openResourceSets(walk: Walk, parent: Draft): Draft[] {
  if (parent.tenant !== undefined || depthOf(walk, parent) >= MAX_NESTING) return []
  return setsIn(parent.objects).flatMap(set => {
    const key = setKey(walk.cluster, set)
    const { objects } = renderResourceSet(set)
    if (objects.length === 0 || walk.drafts.has(key) || objects.length > walk.sets.left) return []
    walk.sets.left -= objects.length
    return [draftOf(walk, parent, set, objects)]
  })
}

function draftOf(walk: Walk, parent: Draft, set: KubeObject, objects: readonly KubeObject[]): Draft {
  const { namespace, name } = idOf(set)
  const identity = identityOf(set, namespace)
  // one that names an account of a tenant's namespace acts for that tenant
  const tenant = identity.impersonated ? walk.tenancy.owners.get(namespace) : undefined
  return {
    key: setKey(walk.cluster, set),
    cluster: walk.cluster,
    namespace,
    name: `${PREFIX}${name}`,
    parent: parent.key,
    identity,
    ...(tenant === undefined ? {} : { tenant }),
    kustomization: set,
    source: parent.source,
    path: parent.path,
    dependsOn: [],
    suspend: stringAt(set.root, ['metadata', 'annotations', `${OPERATOR_GROUP}/reconcile`]) === 'disabled',
    prune: true,
    objects,
    digest: digestOfTexts(objectTexts(objects)),
  }
}

/** Its account, or the operator itself, which is cluster-admin; what the operator is started with is not known here. */
function identityOf(set: KubeObject, namespace: string): Identity {
  const account = accountOf(set, undefined)?.trim()
  if (account) return { user: userOfAccount(namespace, account), impersonated: true }
  return { user: 'system:serviceaccount:flux-system:flux-operator', impersonated: false }
}

function depthOf(walk: Walk, draft: Draft): number {
  let depth = 0
  for (let one: Draft | undefined = draft; one && isSetNode(one); one = walk.drafts.get(one.parent ?? '')) depth++
  return depth
}
