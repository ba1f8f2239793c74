import type { FleetNode } from '../../fleet/model/fleet.ts'
import { at } from '../../kube/node.ts'
import { fieldTexts } from './field-texts.ts'
import { leftOutOf } from './left-out.ts'

/**
 * What of a Kustomization's spec says only when it is applied, from where, or is in the identity already. Whatever else it
 * may say decides what becomes of objects that nobody sees.
 */
const ELSEWHERE = new Set([
  'interval',
  'retryInterval',
  'timeout',
  'wait',
  'healthChecks',
  'healthCheckExprs',
  'dependsOn',
  'prune',
  'path',
  'sourceRef',
  'serviceAccountName',
  'suspend',
])

/** The same, with the values from elsewhere that Flux puts into what it applies. */
export function appliedWith(node: FleetNode): string | undefined {
  const place = appliedAs(node)
  return place === undefined ? undefined : JSON.stringify([place, node.values ?? ''])
}

/**
 * Where and as whom what a node renders is applied, and what its spec makes of it; undefined where nothing of it is applied,
 * because it is suspended or Flux refuses it. What is not evaluated there is known only where this is the same: the same
 * bytes on another cluster, or with another account, are something else.
 */
export function appliedAs(node: FleetNode): string | undefined {
  if (node.suspend || leftOutOf(node).some(({ isFatal }) => isFatal)) return undefined
  const spec = fieldTexts(at(node.kustomization.root, ['spec']), name => !ELSEWHERE.has(name))
  return JSON.stringify([node.cluster, node.identity.user, spec])
}
