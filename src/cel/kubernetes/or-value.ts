import type { FunctionTable } from '../function-library.ts'
import { Optional } from '../values.ts'

/** `orValue` of a value that is not optional is that value (cel-go 0.26 of Kubernetes 1.36; Kyverno restores it on newer ones). */
export const OR_VALUE: FunctionTable = {
  methods: { orValue: ([first]) => (first === undefined || first instanceof Optional ? undefined : first) },
}
