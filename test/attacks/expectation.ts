import type { Expectation } from './attack-case.ts'

/** What is compared of a verdict, also of one that was printed. */
interface Said {
  readonly violations: readonly { readonly rule: string; readonly state: string }[]
  readonly warnings: readonly { readonly rule: string; readonly state: string }[]
  readonly errors: readonly { readonly code: string; readonly state: string }[]
}

export const isNew = ({ state }: { readonly state: string }): boolean => state === 'new'

/** Objects of the cases are as short as they can be: what the API server would still ask of them is held elsewhere (test/schema). */
const isCompared = (rule: string): boolean => rule !== 'schema-mismatch'

/** The ids of what is new, each once. */
export function newIn({ violations, warnings, errors }: Said) {
  return {
    violations: sorted(violations.filter(isNew).map(one => one.rule)),
    warnings: sorted(
      warnings
        .filter(isNew)
        .map(one => one.rule)
        .filter(isCompared),
    ),
    errors: sorted(errors.filter(isNew).map(one => one.code)),
  }
}

/** An expectation in the same form. */
export const wanted = ({ violations = [], warnings = [], errors = [] }: Expectation) => ({
  violations: sorted(violations),
  warnings: sorted(warnings.filter(isCompared)),
  errors: sorted(errors),
})

/** The result that an expectation comes to. */
export function resultOf({ violations = [], errors = [] }: Expectation): 'pass' | 'fail' | 'error' {
  if (errors.length > 0) return 'error'
  return violations.length > 0 ? 'fail' : 'pass'
}

const sorted = (ids: readonly string[]) => [...new Set(ids)].sort()
