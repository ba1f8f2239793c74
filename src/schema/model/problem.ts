import type { Path } from '../../kube/node.ts'

/** Why the API server refuses a value. */
type ProblemKind =
  | 'unknown-field'
  /** Flux leaves it out before the API server sees it: it has no effect. */
  | 'dropped-field'
  | 'missing-field'
  | 'wrong-type'
  | 'bad-format'
  | 'not-allowed'
  /** It may not stand beside another field. */
  | 'forbidden-field'
  | 'duplicate'
  /** None of the alternatives of a custom kind's schema fits. */
  | 'no-match'
  | 'unknown-kind'
  /** Served, but not for long: a warning of the API server. */
  | 'deprecated-version'
  /** An update may not change it. */
  | 'immutable'
  /** A CEL rule of a custom kind's schema is not true of it; `found` is what the rule says. */
  | 'rule'

/** One place of an object that a version of Kubernetes refuses. */
export interface Problem {
  readonly kind: ProblemKind
  readonly path: Path
  /** What may stand there, in words; for an unknown field the names that are known. */
  readonly allowed: string
  /** What stands there instead, in words; never the value itself. */
  readonly found: string
  /** Known names, for "did you mean". */
  readonly names?: readonly string[]
  /** The first version that knows a field which the asked one does not, or that deprecates an API version; as `1.N`. */
  readonly since?: string
  /** The last version that knew it, or that will serve it. */
  readonly until?: string
}
