import type { UserInfo } from '../../kube/rbac/request.ts'
import type { KnownLabels } from '../admission/namespace-value.ts'
import type { ContextValue, Fields } from './jmespath/values.ts'

/** What a rule is asked about. */
export interface RuleRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  /** The object, of a deletion the one that is deleted. */
  readonly object: ContextValue
  /** What it was before an update. */
  readonly old?: ContextValue
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  /** Who asks; undefined where nobody is known, as for Kyverno's command line. */
  readonly user?: UserInfo
  /** `<namespace>:<name>`. */
  readonly roles: readonly string[]
  readonly clusterRoles: readonly string[]
  /** Labels of its namespace; undefined where it is in none. */
  readonly namespaceLabels: KnownLabels | undefined
  /** What expressions may name. */
  readonly context: Fields
}
