import type { Path } from '../../kube/node.ts'
import type { KubeObject, ObjectId } from '../../kube/object.ts'
import type { UserInfo } from '../../kube/rbac/request.ts'
import type { Origin } from '../../origin.ts'

/** The name of a policy, and of one of its rules; '' where its rules have no names. */
export interface PolicyRuleName {
  readonly policy: { readonly kind: string; readonly namespace: string; readonly name: string }
  readonly rule: string
}

/** A policy of which it is not known what it says. */
export interface NotEvaluated extends PolicyRuleName {
  readonly origin: Origin
  readonly why: string
}

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE'

/** A request to the API server as admission sees it, as far as a fleet shows it. */
export interface AdmissionRequest {
  readonly operation: AdmissionOperation
  /** The object, of a deletion the one that is deleted. */
  readonly object: KubeObject
  readonly id: ObjectId
  /** What the object was before, where the operation has one. */
  readonly old?: KubeObject
  /** Who asks, with the groups that the API server derives. */
  readonly user: UserInfo
  /** The plural, as in a URL. */
  readonly resource: string
  readonly isNamespaced: boolean
  /** Of a request for a subresource, the kind that has it. Flux sends none, a policy test may. */
  readonly parent?: { readonly apiVersion: string; readonly kind: string; readonly subresource: string }
  /** Called for each rule that applies to the request and passes. */
  readonly passed?: (rule: PolicyRuleName) => void
}

/** What one rule of a policy says about a request that it refuses. */
export interface AdmissionFinding extends PolicyRuleName {
  readonly field: Path
  /** Where the rule stands. */
  readonly origin: Origin
  /** Distinguishes the checks of one rule independently of their messages; absent if the rule has only one. */
  readonly check?: string
  /** In the words of the policy. */
  readonly message: string
  /** The rule could not be evaluated by its own engine, which then refuses by its failure policy. */
  readonly isError?: true
  readonly action: 'deny' | 'warn' | 'audit'
  /** Who would answer: `Kubernetes` or `Kyverno`. */
  readonly by: string
}

export interface AdmissionAnswer {
  readonly findings: readonly AdmissionFinding[]
  readonly notEvaluated: readonly NotEvaluated[]
}
