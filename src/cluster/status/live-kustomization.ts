import type { Json } from '../../kube/node.ts'
import type { InventoryEntry } from '../inventory-entry.ts'
import { itemsAt, jsonAt, stringAt } from '../json-at.ts'
import { isOurs } from '../take-over-patch.ts'

/** Its objects are pruned before the API server lets it go. */
export const FINALIZER = 'finalizers.fluxcd.io'
const REQUESTED = 'reconcile.fluxcd.io/requestedAt'

/** `<namespace>/<name>`. */
export function keyOf(live: Json): string {
  return `${stringAt(live, 'metadata', 'namespace')}/${stringAt(live, 'metadata', 'name')}`
}

export const isTerminating = (live: Json): boolean => stringAt(live, 'metadata', 'deletionTimestamp') !== ''

export const hasFinalizer = (live: Json): boolean => itemsAt(live, 'metadata', 'finalizers').includes(FINALIZER)

/** Somebody suspended it, in git or by `flux suspend`. */
export const isSuspended = (live: Json | undefined): boolean => jsonAt(live, 'spec', 'suspend') === true

/** Not git suspended it, but a person: `flux suspend`. What an apply of ours wrote alone ends with the next apply. */
export function isSuspendedByHand(live: Json | undefined): boolean {
  const entries = itemsAt(live, 'metadata', 'managedFields')
  return isSuspended(live) && !(entries.length > 0 && entries.every(isOurs))
}

/** What its status asks to be echoed: when somebody asked for a reconciliation (`flux reconcile`); '' where nobody did. */
export const requestedAt = (live: Json): string => stringAt(live, 'metadata', 'annotations', REQUESTED)

/** Somebody asked for a reconciliation that the status does not answer yet. */
export function isRequested(live: Json | undefined): boolean {
  const requested = live === undefined ? '' : requestedAt(live)
  return requested !== '' && requested !== stringAt(live, 'status', 'lastHandledReconcileAt')
}

/** The condition is there and True. */
export function isTrue(live: Json, type: string): boolean {
  const found = itemsAt(live, 'status', 'conditions').find(one => stringAt(one, 'type') === type)
  return stringAt(found, 'status') === 'True'
}

/** The reason of its Ready condition; '' where it has none. */
export function readyReason(live: Json): string {
  const found = itemsAt(live, 'status', 'conditions').find(one => stringAt(one, 'type') === 'Ready')
  return stringAt(found, 'reason')
}

/** What its status says that it has on the cluster. */
export function recordedEntries(live: Json | undefined): InventoryEntry[] {
  return itemsAt(live, 'status', 'inventory', 'entries').map(one => ({
    id: stringAt(one, 'id'),
    v: stringAt(one, 'v'),
  }))
}

/** Flux deletes what it has when it is deleted itself (finalizerShouldDeleteResources of kustomize-controller). */
export function endsWithObjects(live: Json): boolean {
  if (isSuspended(live)) return false
  const policy = stringAt(live, 'spec', 'deletionPolicy') || 'MirrorPrune'
  return policy === 'MirrorPrune' ? jsonAt(live, 'spec', 'prune') === true : policy !== 'Orphan'
}

/** The service account of its own namespace that it names; undefined where none is, or where it is for another cluster. */
export function ownAccount(live: Json): string | undefined {
  const name = stringAt(live, 'spec', 'serviceAccountName')
  if (name === '' || jsonAt(live, 'spec', 'kubeConfig') !== undefined) return undefined
  return `system:serviceaccount:${stringAt(live, 'metadata', 'namespace')}:${name}`
}
