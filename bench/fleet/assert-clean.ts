import type { Verdict } from '../../src/rules/model/finding.ts'

/**
 * Throws the first finding of a fleet that is to have none: what is refused, or was not read, takes another time than what
 * is measured. `isPart` where sources are left out on purpose.
 */
export function assertClean(verdict: Verdict, isPart = false): void {
  const [finding] = [...verdict.violations, ...verdict.errors, ...verdict.warnings]
  if (finding) {
    const { file, line } = finding.origin
    throw new Error(`the fleet of this bench is not clean: ${file}:${line}: ${finding.message}`)
  }
  const [left] = isPart ? [] : verdict.notSeen
  if (left) throw new Error(`the fleet of this bench is not visible: ${left.source}: ${left.reason}`)
}
