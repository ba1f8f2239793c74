import type { Path } from '../../kube/node.ts'

/** Why the API server refuses a value. */
type ProblemKind =
  | 'unknown-field'
  /** Flux leaves it out before the API server sees it: it has no effect. */
  | 'dropped-field'
  /** Not text, of a custom kind: Flux reads labels as texts only, and drops all of them. */
  | 'dropped-labels'
  | 'missing-field'
  | 'wrong-type'
  | 'bad-format'
  | 'not-allowed'
  /** Not allowed together with another field. */
  | 'forbidden-field'
  | 'duplicate'
  /** None of the alternatives of a custom kind's schema fits. */
  | 'no-match'
  | 'unknown-kind'
  /** Still served but deprecated; the API server warns. */
  | 'deprecated-version'
  /** An update may not change it. */
  | 'immutable'
  /** Violates a CEL rule of the custom kind's schema; `found` is the rule's message. */
  | 'rule'

/** One place of an object that a version of Kubernetes refuses. */
export interface Problem {
  readonly kind: ProblemKind
  readonly path: Path
  /** What may stand there, in words; for an unknown field the names that are known. */
  readonly allowed: string
  /** What stands there instead, in words; never the value itself. */
  readonly found: string
  /** What every version of the API server answers. */
  readonly words?: string
  /** Known names, for "did you mean". */
  readonly names?: readonly string[]
  /** `1.N`, or `2.N` of Flux: the first version that has the unknown field, serves the kind, or deprecates the API version. */
  readonly since?: string
  /** The last version that had the field or serves the API version. */
  readonly until?: string
}
