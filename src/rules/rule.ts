import type { ErrorCode } from '../errors.ts'
import type { Fleet, FleetNode } from '../fleet/fleet.ts'
import type { Path } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Severity } from './finding.ts'
import type { FleetIndex } from './fleet-index.ts'

/** What rules may ask: the whole fleet, never a repository or a cluster. */
export interface RuleContext {
  readonly fleet: Fleet
  readonly index: FleetIndex
  /** The fleet before the change, where there is one to compare with. */
  readonly before?: Fleet
}

/** A rule's answer: this value of this object breaks it. */
export interface Breach {
  /** The node that must not be applied because of it. */
  readonly node: FleetNode
  /** Where the object was rendered, if that is another node. */
  readonly renderedBy?: FleetNode
  readonly object: KubeObject
  readonly path: Path
  /** The offending value, for the identity of the violation. Never a secret. */
  readonly value: string
  readonly message: string
  readonly fix: string
}

/** One question about what would be applied. */
export interface Rule {
  /** Final: people write it into baselines. */
  readonly id: string
  readonly severity: Severity
  readonly title: string
  /** What goes wrong without the rule. */
  readonly why: string
  /** How to write it instead. */
  readonly docs: string
  /** Every breach of the rule in the fleet. What the renderer refuses by itself needs no check. */
  check(context: RuleContext): Iterable<Breach>
}

/** Something about an object that cannot be decided: an error of its node. */
export interface Undecided {
  readonly node: FleetNode
  readonly code: ErrorCode
  readonly object: KubeObject
  readonly path: Path
  readonly message: string
  readonly fix: string
}
