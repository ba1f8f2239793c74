import type { SourceRef } from '../fleet/model/source-ref.ts'
import type { ListedKey } from '../kube/sops-services.ts'
import type { EvaluatedNode } from '../rules/model/finding.ts'

/** What the operator bound a cluster to: only this branch of this repository ever reaches it. */
interface Binding {
  readonly cluster: string
  /** Normalised address of the fleet repository. */
  readonly fleet: string
  readonly branch: string
  /** The clusters as which API servers are listed that kubeConfigs may lead to; absent: none. */
  readonly kubeConfigs?: readonly { readonly cluster: string }[]
  /** Keys of services by which its Kustomizations may be decrypted; absent: none. */
  readonly kmsKeys?: readonly ListedKey[]
}

/** The present commits of the bound branch and of each source, and the revision set that they form. */
export interface Heads {
  /** combinationOf the complete input. */
  readonly combination: string
  /** Nothing that the graph needs was left unread. */
  readonly complete: boolean
  readonly fleet: { readonly url: string; readonly branch: string; readonly commit: string }
  readonly sources: readonly { readonly url: string; readonly ref: SourceRef; readonly commit: string }[]
}

/** The evaluation of one revision set. `disputed`: two evaluations of it differ, so neither counts. */
export interface KnownEvaluation {
  readonly nodes: readonly EvaluatedNode[]
  /** Fingerprints that the fleet's own baseline file lists in this combination. */
  readonly baseline: readonly string[]
  readonly disputed: boolean
}

/** The approval state of one cluster, as plain data. */
export interface ApprovalState {
  readonly binding: Binding
  /** Undefined: nobody knows what is on the branch now. */
  readonly heads: Heads | undefined
  readonly evaluations: ReadonlyMap<string, KnownEvaluation>
  /** Keys of nodes that a person holds back. */
  readonly holds: ReadonlySet<string>
}

export type ApprovalEvent =
  /** The bound branch and the sources were read just now. */
  | { readonly type: 'heads-read'; readonly heads: Heads }
  /** They could not be read: what was known about them is no longer the present. */
  | { readonly type: 'heads-unknown' }
  /** A evaluation without a base (against the baseline file of the same fleet commit) was reached. */
  | {
      readonly type: 'judged'
      readonly combination: string
      readonly nodes: readonly EvaluatedNode[]
      readonly baseline: readonly string[]
    }
  | { readonly type: 'hold' | 'unhold'; readonly node: string }
  /** Another engine or other rules run from now on: nothing that the old ones said counts. */
  | { readonly type: 'engine-changed' }
  /** The process starts again: only the operator's binding and the holds are still known. */
  | { readonly type: 'restarted' }

/** The initial state: nothing was evaluated, so nothing may be applied. */
export function initialApproval(binding: Binding, holds: Iterable<string> = []): ApprovalState {
  return { binding, heads: undefined, evaluations: new Map(), holds: new Set(holds) }
}
