import type { ObjectId } from '../../kube/object.ts'

/** What becomes of the objects when the Kustomization itself is removed; `MirrorPrune` follows `prune`. */
export const DELETION_POLICIES = ['MirrorPrune', 'Delete', 'WaitForTermination', 'Orphan'] as const
export type DeletionPolicy = (typeof DELETION_POLICIES)[number]

/** CEL expressions that replace kstatus for a kind; without a kind, for every kind of the group. */
export interface HealthCheckExpr {
  readonly apiVersion: string
  readonly kind: string
  readonly current: string
  readonly failed?: string
  readonly inProgress?: string
}

/** Which objects an ignore rule is for: Go regular expressions that match the whole text, and label selectors. */
export interface IgnoreTarget {
  readonly group?: string
  readonly version?: string
  readonly kind?: string
  readonly name?: string
  readonly namespace?: string
  readonly labelSelector?: string
  readonly annotationSelector?: string
}

/** Fields that are left as the cluster has them. */
export interface IgnoreRule {
  /** JSON pointers (RFC 6901). */
  readonly paths: readonly string[]
  /** Absent: every object of the Kustomization. */
  readonly target?: IgnoreTarget
}

/** A dependency that is ready when an expression over the two Kustomizations says so. */
export interface ReadyExpr {
  /** `<namespace>/<name>`. */
  readonly dependency: string
  readonly expression: string
}

/** What `spec.kubeConfig` names in the namespace of the Kustomization. */
export interface KubeConfigSetting {
  readonly kind: 'Secret' | 'ConfigMap'
  readonly name: string
  /** Of a Secret; '' for Flux's default. */
  readonly key: string
}

/** How a Flux Kustomization wants to be applied, as plain JSON with the defaults of kustomize-controller filled in. */
export interface ApplySettings {
  readonly intervalMs: number
  /** After a failure. */
  readonly retryIntervalMs: number
  /** Of the health checks: `timeout`, else 30 s less than `interval`; at least 30 s. */
  readonly timeoutMs: number
  /** Deletes and creates again what cannot be changed in place. */
  readonly force: boolean
  readonly deletionPolicy: DeletionPolicy
  /** Every applied object must become healthy; `healthChecks` do not count then. */
  readonly wait: boolean
  readonly healthChecks: readonly ObjectId[]
  readonly healthCheckExprs: readonly HealthCheckExpr[]
  readonly ignore: readonly IgnoreRule[]
  readonly readyExprs: readonly ReadyExpr[]
  /** It is applied to the cluster that this leads to. */
  readonly kubeConfig?: KubeConfigSetting
  /** `reconcile.fluxcd.io/requestedAt` as git has it. */
  readonly requestedAt?: string
}

const MINUTE = 60_000

/** Of a Kustomization that says nothing, as `flux bootstrap` writes it. */
export const DEFAULT_SETTINGS: ApplySettings = {
  intervalMs: 10 * MINUTE,
  retryIntervalMs: 10 * MINUTE,
  timeoutMs: 10 * MINUTE - 30_000,
  force: false,
  deletionPolicy: 'MirrorPrune',
  wait: false,
  healthChecks: [],
  healthCheckExprs: [],
  ignore: [],
  readyExprs: [],
}
