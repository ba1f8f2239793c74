import { commandError, quoted } from './command-error.ts'
import { parseReason } from './parse-reason.ts'

/** How to write it. */
export const WAIVE_USAGE = 'waive RULE|FINDING [--until YYYY-MM-DD] REASON'

const USAGE = `/bailiwick ${WAIVE_USAGE}`
const USUAL_DAYS = 30
const MOST_DAYS = 90

/** What someone asks to have accepted, until when, and why. */
interface WaiveRequest {
  /** Id of a rule, or the beginning of a finding's fingerprint. */
  readonly target: string
  /** `YYYY-MM-DD` */
  readonly until: string
  readonly reason: string
}

/**
 * Parses the arguments of `waive`; `today` is the UTC date, `YYYY-MM-DD`. Without `--until` the waiver lasts 30 days;
 * more than 90 are refused. Throws `command-input`.
 */
export function parseWaive(words: readonly string[], today: string): WaiveRequest {
  const [target, ...rest] = words
  if (target === undefined || target.startsWith('-')) {
    throw commandError('the rule or finding is missing', `Write \`${USAGE}\``)
  }
  if (!/^[a-z0-9][a-z0-9-]{1,60}$/.test(target)) {
    throw commandError(`${quoted(target)} is neither a rule nor a finding`, `Write \`${USAGE}\``)
  }
  const { until, others } = withoutUntil(rest)
  return { target, until: checkedDay(until, today), reason: parseReason(others, USAGE) }
}

/** The option stands before the reason; behind its first word `--until` is a word as any other. */
function withoutUntil(words: readonly string[]): { until: string | undefined; others: readonly string[] } {
  const [first = '', second, ...rest] = words
  if (first.startsWith('--until=')) return { until: first.slice('--until='.length), others: words.slice(1) }
  if (first === '--until') return { until: second ?? '', others: rest }
  if (first.startsWith('--')) throw commandError(`unknown option ${quoted(first)}`, `Write \`${USAGE}\``)
  return { until: undefined, others: words }
}

function checkedDay(until: string | undefined, today: string): string {
  if (until === undefined) return dayAfter(today, USUAL_DAYS)
  const last = dayAfter(today, MOST_DAYS)
  const fix = `Write a day from ${today} to ${last}, as \`--until ${dayAfter(today, USUAL_DAYS)}\`.`
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(until) && dayAfter(until, 0) === until
  if (!isDay) throw commandError(`${quoted(until)} is not a day`, fix)
  if (until < today) throw commandError(`${until} is over`, fix)
  if (until > last) throw commandError(`${until} is more than ${MOST_DAYS} days from now`, fix)
  return until
}

/** '' for what is no day of the calendar. */
function dayAfter(day: string, days: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  const time = Date.UTC(year, month - 1, date + days)
  return Number.isNaN(time) ? '' : new Date(time).toISOString().slice(0, 10)
}
