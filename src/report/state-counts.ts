import { countFindings } from '../evaluate/verdict/group-findings.ts'
import type { Finding, NodeFailure } from '../rules/model/finding.ts'
import { isNew } from './text/headline.ts'

/** How many findings a cell of a table stands for, each cause once. */
export interface StateCounts {
  readonly errors: number
  readonly violations: number
  /** Errors and violations that were there before. */
  readonly existing: number
  readonly warnings: number
}

/** Counts findings and errors by what they mean for the result. */
export function stateCounts(items: readonly (Finding | NodeFailure)[]): StateCounts {
  const errors = items.filter((one): one is NodeFailure => !('level' in one))
  const findings = items.filter((one): one is Finding => 'level' in one)
  const violations = findings.filter(({ level }) => level === 'violation')
  const existing = (list: readonly NodeFailure[]) => causes(list.filter(({ state }) => state === 'standing'))
  return {
    errors: causes(errors.filter(isNew)),
    violations: countFindings(violations.filter(isNew)),
    existing: existing(errors) + countFindings(violations.filter(({ state }) => state === 'standing')),
    warnings: countFindings(findings.filter(one => one.level === 'warning' && isNew(one))),
  }
}

/** What blocks counts more than what exists already. */
export function weightOf({ errors, violations, existing }: StateCounts): number {
  return (errors + violations) * 1000 + existing
}

const causes = (failures: readonly NodeFailure[]) => new Set(failures.map(({ fingerprint }) => fingerprint)).size
