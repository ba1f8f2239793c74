import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { objectPart } from '../../../facts/shown.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { canonical } from '../../../kube/node.ts'
import { display, groupOf, idOf, type KubeObject } from '../../../kube/object.ts'
import { RBAC_GROUP } from '../../../kube/rbac/binding.ts'
import type { MessagePart } from '../../../message/message.ts'

/** A role or binding of a change that the cluster gets only after a Kustomization was applied. */
interface LateGrant {
  /** As `display` writes it. */
  readonly name: string
  readonly shown: MessagePart
}

/** Flux applies and awaits ClusterRoles in a stage before everything else (fluxcd/pkg ssa utils/is.go). */
const LAST_STAGE = new Set(['Role', 'RoleBinding', 'ClusterRoleBinding'])

/**
 * The roles and bindings that are new or changed and count too late for a Kustomization: its own, and those of Kustomizations
 * that wait for it, by `dependsOn` or because it makes them.
 */
export function lateGrants(node: FleetNode, index: FleetIndex, before: FleetIndex): LateGrant[] {
  // `flux bootstrap` applies what the root of a new cluster contains before Flux does
  if (node.parent === undefined && before.cluster(node.cluster) === undefined) return []
  const isChanged = (object: KubeObject) => {
    const { apiVersion, kind, namespace, name } = idOf(object)
    const was = before.versionsOf(node.cluster, `${groupOf(apiVersion)}/${kind}`, namespace, name)
    return !was.some(one => canonical(one.object.root) === canonical(object.root))
  }
  const isGrant = ({ apiVersion, kind }: ReturnType<typeof idOf>) =>
    (LAST_STAGE.has(kind) || kind === 'ClusterRole') && groupOf(apiVersion) === RBAC_GROUP
  const own = node.objects.filter(object => LAST_STAGE.has(idOf(object).kind) && isGrant(idOf(object)))
  const waiting = waitingFor(node.key, index, before).flatMap(key => index.objectsOf(key))
  return [...own, ...waiting.filter(object => isGrant(idOf(object)))].filter(isChanged).map(object => {
    const id = idOf(object)
    return { name: display(id), shown: objectPart(id.kind, id.namespace, id.name) }
  })
}

/** Kustomizations that are not applied before another one. One that exists already does not wait for its parent. */
function waitingFor(key: string, index: FleetIndex, before: FleetIndex): readonly string[] {
  const waiting = new Set([key])
  // a set that grows while it is walked
  for (const one of waiting) {
    const next = index.followers(one).filter(({ by, key: other }) => by === 'dependsOn' || !before.node(other))
    for (const { key: other } of next) waiting.add(other)
  }
  waiting.delete(key)
  return [...waiting]
}
