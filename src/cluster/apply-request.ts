import type { Json } from '../kube/node.ts'
import type { InventoryEntry } from './inventory-entry.ts'
import type { Owner } from './ownership.ts'

/** What to apply, for whom and as whom. */
export interface ApplyRequest {
  /** Who applies: impersonated, never empty. */
  readonly user: string
  readonly owner: Owner
  /** Plain JSON (see parseExact), in any order. */
  readonly objects: readonly Json[]
  /** Entries of the owner's inventory: their uid keeps an object ours whose labels somebody removed. */
  readonly known?: readonly InventoryEntry[]
  /** Take over whatever is there, as Flux does always. For the platform's own Kustomizations; never for a tenant's. */
  readonly adopt?: boolean
  /** How long definitions and namespaces may take to be ready (60 s). */
  readonly stageWaitMs?: number
  readonly signal?: AbortSignal
}
