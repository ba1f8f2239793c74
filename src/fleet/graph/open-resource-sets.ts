import { OPERATOR_GROUP } from '../../kube/flux-kinds.ts'
import { stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { userOfAccount } from '../../kube/rbac/policy-rule.ts'
import { type FleetNode, type Identity, type NotSeen, nodeKey } from '../model/fleet.ts'
import { accountOf } from '../model/kustomization-spec.ts'
import { digestOfTexts, objectTexts } from '../model/same-node.ts'
import { type RenderedSet, renderResourceSet, setsIn } from '../rendering/render-resource-set.ts'
import type { Draft, Walk } from './walk.ts'

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
export function openResourceSets(walk: Walk, parent: Draft, sets: readonly KubeObject[]): Draft[] {
  if (parent.tenant !== undefined || depthOf(walk, parent) >= MAX_NESTING) return []
  return sets.flatMap(set => {
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

const REASON = 'the Flux Operator creates objects from it on the cluster, and Bailiwick does not evaluate them'
const FEW = 3

/**
 * The ResourceSets of a fleet of which something is not rendered: what they template, Kustomizations of tenants among it, is
 * made on the cluster, from inputs that may come from elsewhere. Source: https://fluxoperator.dev/docs/crd/resourceset/
 */
export function generatingObjects(nodes: readonly FleetNode[]): NotSeen[] {
  const opened = new Set(nodes.map(({ key }) => key))
  const reasons = new Map<string, string>()
  for (const { hub, cluster, objects, retained = [] } of nodes) {
    for (const set of [...setsIn(objects), ...setsIn(retained)]) {
      const { namespace, name } = idOf(set)
      const id = `ResourceSet/${namespace}/${name}`
      const { objects: made, left } = renderResourceSet(set)
      const isOpened = hub === undefined && opened.has(setKey(cluster, set))
      const reason = isOpened || made.length === 0 ? leftText(left) : REASON
      if (reason !== undefined && !reasons.has(id)) reasons.set(id, reason)
    }
  }
  return [...reasons]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([source, reason]) => ({ source, url: '', reason, what: 'objects' }))
}

/** Undefined where nothing is left. */
function leftText(left: RenderedSet['left']): string | undefined {
  if (left.length === 0) return undefined
  const shown = left.slice(0, FEW).map(({ at, why }) => `${at}: ${why}`)
  const more = left.length > FEW ? `; and ${left.length - FEW} more` : ''
  const parts = left.length === 1 ? '1 part of it is' : `${left.length} parts of it are`
  return `${parts} not evaluated (${shown.join('; ')}${more})`
}
