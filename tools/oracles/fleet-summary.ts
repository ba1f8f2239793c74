import type { Verdict } from '../../src/rules/model/finding.ts'
import { asksApproval, changesOfFleet, counted, isNew, NO_FLEET, type Surveyed } from './fleet-table.ts'

/** What all repositories come to: complete first results, changes, and what the blocked ones are blocked for. */
export function printSummary(surveyed: readonly Surveyed[], unread: readonly string[]): void {
  const fleets = surveyed.filter(({ first }) => first.result !== NO_FLEET)
  const complete = fleets.filter(({ first }) => first.result !== 'error')
  const changes = fleets.flatMap(changesOfFleet)
  const blocked = changes.filter(({ verdict }) => verdict.result !== 'pass')
  const assumed = fleets.filter(({ first }) => first.assumed.length > 0)
  const others = surveyed.filter(({ first }) => first.result === NO_FLEET)
  console.log(`\nfleets: ${fleets.length}; first results without errors: ${share(complete.length, fleets.length)}`)
  console.log(`changes: ${changes.length}; blocked: ${share(blocked.length, changes.length)}`)
  for (const [key, count] of counted(blocked.map(({ verdict }) => classOf(verdict)))) console.log(`  ${count} x ${key}`)
  const asking = changes.filter(asksApproval)
  console.log(`changes that ask for an approval: ${share(asking.length, changes.length)}`)
  console.log(
    `clusters that are assumed: ${listed(assumed.map(one => `${one.name} (${one.first.assumed.join(', ')})`))}`,
  )
  console.log(`no fleet of Flux: ${listed(others.map(({ name }) => name))}`)
  console.log(`not read: ${listed(unread)}`)
}

/** Codes of the new errors and rules of the new violations of a change. */
function classOf({ errors, violations }: Verdict): string {
  const codes = errors.filter(isNew).map(({ code }) => `error ${code}`)
  const rules = violations.filter(isNew).map(({ rule }) => `violation ${rule}`)
  return [...new Set([...codes, ...rules])].sort().join(', ') || 'nothing new'
}

const share = (part: number, whole: number) =>
  `${part}${whole === 0 ? '' : ` (${((100 * part) / whole).toFixed(1)} %)`}`

const listed = (names: readonly string[]) => (names.length === 0 ? 'none' : `${names.length}: ${names.join('; ')}`)
