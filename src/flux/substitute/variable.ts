import type { ValueHolder } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'

/** What a variable of `spec.postBuild` stands for. */
export interface Variable {
  /** The value without its line breaks; '' where `hidden` says why it is not known. */
  readonly value: string
  /** Where the value was written. */
  readonly origin: Origin
  /** `opaque`: only the cluster has it. `not-text`: bytes that are no UTF-8, which no manifest can hold. */
  readonly hidden?: 'opaque' | 'not-text'
  /** With `opaque`: where the value lies, each once; one without a key stands for the key that is asked for. */
  readonly holders?: readonly ValueHolder[]
  /** With `opaque`: nothing says that the cluster has it, beside what asks for it. */
  readonly undeclared?: true
}

/** Variables by name. */
export type Variables = ReadonlyMap<string, Variable>

/** What one ConfigMap or Secret gives. */
export interface VariableSource {
  readonly variables: Variables
  /** Stands for every other name: which ones there are is only known to the cluster. */
  readonly rest?: Variable
  /** Stands for a name that nothing sets, where Flux would refuse the object: it may be in what is optional and not known. */
  readonly unset?: Variable
}
