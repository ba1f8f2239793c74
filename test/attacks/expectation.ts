import type { AttackCase, Expectation } from './attack-case.ts'

/** What is compared of a verdict, also of one that was printed. */
interface Said {
  readonly violations: readonly { readonly rule: string; readonly state: string }[]
  readonly warnings: readonly { readonly rule: string; readonly state: string }[]
  readonly errors: readonly { readonly code: string; readonly state: string }[]
}

export const isNew = ({ state }: { readonly state: string }): boolean => state === 'new'

const SCHEMAS = 'schema-mismatch'

/**
 * Objects of the cases are as short as they can be: what the API server would still ask of them is held elsewhere (test/rules/schema),
 * and compared only in a case that expects it of a variant.
 */
export const comparesSchemas = ({ stands, expect, variants }: AttackCase): boolean =>
  [stands, expect, ...[...variants.values()].flatMap(one => [one.expect ?? {}, one.alone ?? {}])].some(one =>
    one.violations?.includes(SCHEMAS),
  )

/** Whether something is new that is not compared. */
export const hasUncompared = ({ violations }: Said, schemas: boolean): boolean =>
  !schemas && violations.some(one => isNew(one) && one.rule === SCHEMAS)

/** The ids of what is new, each once; violations by schemas only with `schemas`. */
export function newIn({ violations, warnings, errors }: Said, schemas: boolean) {
  const rules = (findings: Said['violations']) => findings.filter(isNew).map(one => one.rule)
  return {
    violations: sorted(rules(violations).filter(rule => schemas || rule !== SCHEMAS)),
    warnings: sorted(rules(warnings).filter(rule => rule !== SCHEMAS)),
    errors: sorted(errors.filter(isNew).map(one => one.code)),
  }
}

/** An expectation in the same form. */
export const wanted = ({ violations = [], warnings = [], errors = [] }: Expectation) => ({
  violations: sorted(violations),
  warnings: sorted(warnings.filter(rule => rule !== SCHEMAS)),
  errors: sorted(errors),
})

/** The result that an expectation comes to. */
export function resultOf({ violations = [], errors = [] }: Expectation): 'pass' | 'fail' | 'error' {
  if (errors.length > 0) return 'error'
  return violations.length > 0 ? 'fail' : 'pass'
}

const sorted = (ids: readonly string[]) => [...new Set(ids)].sort()
