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
  /** revisionSetOf the complete input. */
  readonly combination: string
  /** Nothing that the graph needs was left unread. */
  readonly complete: boolean
  readonly fleet: { readonly url: string; readonly branch: string; readonly commit: string }
  readonly sources: readonly { readonly url: string; readonly ref: SourceRef; readonly commit: string }[]
}

/** The evaluation of one revision set, without a base: against the baseline file of the same fleet commit. */
export interface KnownEvaluation {
  readonly combination: string
  readonly nodes: readonly EvaluatedNode[]
  /** Fingerprints that the fleet's own baseline file lists at these commits. */
  readonly baseline: readonly string[]
}

/** What decides what may be applied to one cluster, as plain data. */
export interface ApprovalState {
  readonly binding: Binding
  readonly evaluated: KnownEvaluation
  /** Read after the evaluation. */
  readonly heads: Heads
}
