import type { UserInfo } from '../../kube/rbac/request.ts'
import type { KnownLabels } from '../admission/namespace-value.ts'
import type { ContextValue, Fields } from './jmespath/values.ts'

/** The input of a rule. */
export interface RuleRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  /** The object; in a deletion, the object being deleted. */
  readonly object: ContextValue
  /** The object before an update. */
  readonly old?: ContextValue
  readonly group: string
  readonly version: string
  readonly kind: string
  /** The part of an object that a request is about; absent for the object itself. */
  readonly subresource?: string
  readonly namespace: string
  readonly name: string
  /** The requesting user; undefined if not known, as in Kyverno's command line. */
  readonly user?: UserInfo
  /** `<namespace>:<name>`. */
  readonly roles: readonly string[]
  readonly clusterRoles: readonly string[]
  /** Labels of its namespace; undefined for a cluster-scoped object. */
  readonly namespaceLabels: KnownLabels | undefined
  /** Names available to expressions. */
  readonly context: Fields
}
