import type { FleetIndex } from '../facts/fleet-index.ts'
import type { Subject } from '../facts/subject.ts'
import type { AddressForm, SourceAddress } from '../kube/address/source-address.ts'
import type { Path } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Origin } from '../origin.ts'

/** The part of an engine that evaluates the address of a source in every spelling. */
export interface AddressEngine {
  /** Pure; whatever a policy holds, it never throws. A policy that is not about the field says nothing. */
  evaluate(index: FleetIndex, question: PolicyQuestion): PolicyAnswer
}

/** Whether the policies let an object have the address that one of its fields holds. */
export interface PolicyQuestion {
  readonly subject: Subject
  readonly field: Path
  /** As it is written; `address` is its one spelling. */
  readonly written: string
  readonly address: SourceAddress
  readonly form: AddressForm
}

export interface PolicyAnswer {
  readonly findings: readonly PolicyFinding[]
  /** What speaks about the object and cannot be evaluated here, so that nobody takes its silence for a yes. */
  readonly notEvaluated: readonly NotEvaluated[]
}

/** The name of a policy, and of one of its rules; '' where its rules have no names. */
export interface PolicyRuleName {
  readonly policy: { readonly kind: string; readonly namespace: string; readonly name: string }
  readonly rule: string
}

/** A policy that refuses the value of a field. */
export interface PolicyFinding extends PolicyRuleName {
  readonly object: KubeObject
  readonly field: Path
  /** Where the policy stands. */
  readonly origin: Origin
  /** What the policy says about it; '' for nothing. */
  readonly message: string
  /** What happens on the cluster, and who does it. */
  readonly action: 'deny' | 'warn' | 'audit'
  readonly by: string
}

/** A policy of which it is not known what it says. */
export interface NotEvaluated extends PolicyRuleName {
  readonly origin: Origin
  readonly why: string
}
