import type { IgnoreRule } from '../flux/apply-settings/apply-settings.ts'
import type { Json } from '../kube/node.ts'
import type { InventoryEntry } from './inventory-entry.ts'
import type { Owner } from './ownership.ts'
import type { FluxSwitch } from './skip-reason.ts'

/** What to apply, for whom and as whom. */
export interface ApplyRequest {
  /** Who applies: impersonated, never empty. */
  readonly user: string
  readonly owner: Owner
  /** Plain JSON (see parseExact), in any order. */
  readonly objects: readonly Json[]
  /** Those of `objects` with values that no message may quote; Secrets are never quoted. */
  readonly confidential?: ReadonlySet<Json>
  /** Entries of the owner's inventory: their uid keeps an object ours whose labels somebody removed. */
  readonly known?: readonly InventoryEntry[]
  /** Take over whatever is there, as Flux does always. For the platform's own Kustomizations; never for a tenant's. */
  readonly adopt?: boolean
  /** Whether another Kustomization lets go of an object that has its labels: it is taken over. Absent: none does. */
  readonly isReleased?: (owner: Owner, entry: InventoryEntry) => boolean
  /** spec.force: delete and create again what cannot be changed in place. Only what is the owner's own. */
  readonly force?: boolean
  /** spec.ignore: fields that stay as the cluster has them. */
  readonly ignore?: readonly IgnoreRule[]
  /** Flux's switches on objects that count; absent: all of them. */
  readonly switches?: readonly FluxSwitch[]
  /** Called once, before the first write; what it throws ends the apply with nothing written. */
  readonly beforeWrite?: () => Promise<void>
  /** How long definitions and namespaces may take to be ready (60 s). */
  readonly stageWaitMs?: number
  readonly signal?: AbortSignal
}
