import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { kindOf } from '../../../facts/kind-of.ts'
import { identityPart, objectPart, shownName } from '../../../facts/shown.ts'
import { accountOf, applierKinds } from '../../../fleet/model/appliers.ts'
import type { FleetNode, Identity } from '../../../fleet/model/fleet.ts'
import type { EmbeddedObject } from '../../../kube/capabilities/embedded-objects.ts'
import { stringAt } from '../../../kube/node.ts'
import { idOf } from '../../../kube/object.ts'
import { userOfAccount } from '../../../kube/rbac/groups-of.ts'
import { message } from '../../../message/message.ts'
import { asMessage } from '../../../message/said.ts'
import type { Violation } from '../../model/rule.ts'

/** Who applies what stands at a place of an object: an account of its namespace, or the controller of its kind. */
export function applierOf(
  index: FleetIndex,
  cluster: string,
  { holder, place }: Pick<EmbeddedObject, 'holder' | 'place'>,
): Identity {
  const { kind, namespace } = idOf(holder)
  const controller = { user: `the controller of ${shownName(kind)}`, impersonated: false }
  if (place.by === 'controller') return controller
  const isApplier = applierKinds.includes(kindOf(holder))
  const written = isApplier
    ? accountOf(holder, index.cluster(cluster)?.lockdown)
    : stringAt(holder.root, place.by.at.split('.'))
  const name = (written ?? '').trim() || (place.by.otherwise === 'default' ? 'default' : '')
  return name === '' ? controller : { user: userOfAccount(namespace, name), impersonated: true }
}

const nodes = new WeakMap<FleetNode, Map<string, FleetNode>>()

/** The node as it would be if whoever applies an embedded object applied it. */
export function applyingNode(index: FleetIndex, node: FleetNode, embedded: EmbeddedObject): FleetNode {
  const identity = applierOf(index, node.cluster, embedded)
  if (identity.user === node.identity.user && identity.impersonated === node.identity.impersonated) return node
  const ofNode = nodes.get(node) ?? new Map<string, FleetNode>()
  nodes.set(node, ofNode)
  const known = ofNode.get(identity.user) ?? { ...node, identity }
  ofNode.set(identity.user, known)
  return known
}

/** What was found in an embedded object, saying what it stands in; a certain fix of a file is none there. */
export function* within({ holder }: EmbeddedObject, violations: Iterable<Violation>): Iterable<Violation> {
  const { kind, namespace, name } = idOf(holder)
  const where = objectPart(kind, namespace, name)
  for (const { edit: _edit, ...violation } of violations) {
    const by = identityPart(violation.node.identity)
    yield {
      ...violation,
      value: `${violation.value} in ${kind} ${namespace}/${name}`,
      message: message`${asMessage(violation.message)} It is in ${where}; ${by} applies it.`,
    }
  }
}
