import type { Finding, NodeFailure } from '../rules/finding.ts'
import type { View } from './audience.ts'
import { visible } from './visible.ts'

/** The verdict in one line of plain text: `2 violations: tenant ops-team on staging`. */
export function headlineOf({ verdict, hidden }: View): string {
  const fresh = verdict.violations.filter(isNew)
  const undecided = verdict.errors.filter(isNew)
  if (verdict.result === 'error') {
    const first = undecided[0] ?? verdict.errors[0]
    if (!first) return 'Could not decide: something outside of what this repository is shown'
    const more = undecided.length > 1 ? ` (and ${undecided.length - 1} more)` : ''
    return visible(`Could not decide: ${first.message}`, 180) + more
  }
  const reported = verdict.warnings.filter(finding => isNew(finding) && finding.reported)
  const warnings = verdict.warnings.filter(isNew).length - reported.length
  const tail = warnings > 0 ? `, ${count(warnings, 'warning')}` : ''
  if (verdict.result === 'fail') {
    if (fresh.length === 0) return `${count(hidden.violations, 'violation')} elsewhere in the fleet`
    return visible(`${count(fresh.length, 'violation')}${tail}: ${concerned(fresh)}`, 200)
  }
  if (reported.length > 0) {
    // the mode is named first: a green check must not be read as clean
    return visible(
      `Would block (report mode): ${count(reported.length, 'violation')}${tail}: ${concerned(reported)}`,
      200,
    )
  }
  const standing = verdict.violations.filter(finding => finding.state === 'standing').length
  const waived = verdict.violations.filter(finding => finding.state === 'waived').length
  const legacy = [
    ...(standing > 0 ? [`, ${standing} standing`] : []),
    ...(waived > 0 ? [`, ${waived} waived`] : []),
  ].join('')
  return `No ${legacy === '' ? '' : 'new '}violations${tail}${legacy}`
}

/** `1 violation`, `2 violations`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** Whether it is new: what blocks. */
export function isNew(item: { readonly state: Finding['state'] | NodeFailure['state'] }): boolean {
  return item.state === 'new'
}

function concerned(findings: readonly Finding[]): string {
  const tenants = [...new Set(findings.map(finding => finding.tenant))].sort()
  const clusters = [...new Set(findings.map(finding => finding.cluster))].sort()
  const who = tenants.length === 1 ? nameOf(tenants[0]!) : count(tenants.length, 'tenant')
  return `${who} on ${clusters.length <= 3 ? clusters.join(', ') : count(clusters.length, 'cluster')}`
}

const nameOf = (tenant: string) => (tenant === '' ? 'the platform' : `tenant ${tenant}`)
