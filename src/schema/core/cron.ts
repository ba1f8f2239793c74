/** A field of a cron schedule: its bounds and the names of its values. */
interface CronField {
  readonly name: string
  readonly least: number
  readonly most: number
  readonly words: readonly string[]
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const DAYS = 'sun mon tue wed thu fri sat'.split(' ')
const FIELDS: readonly CronField[] = [
  { name: 'minute', least: 0, most: 59, words: [] },
  { name: 'hour', least: 0, most: 23, words: [] },
  { name: 'day of the month', least: 1, most: 31, words: [] },
  { name: 'month', least: 1, most: 12, words: MONTHS },
  { name: 'day of the week', least: 0, most: 6, words: DAYS },
]
const NAMED = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'])
const EVERY = /^@every [+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/
const MAX_LENGTH = 1000

/** The problem of a CronJob's schedule according to its parser (github.com/robfig/cron, ParseStandard). */
export function cronProblem(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return 'it is too long'
  if (/^(?:CRON_)?TZ=/.test(text)) return 'it names a time zone'
  if (text.startsWith('@')) return NAMED.has(text) || EVERY.test(text) ? undefined : 'it is no descriptor'
  const fields = text.trim().split(/\s+/)
  if (fields.length !== FIELDS.length) return 'it has not five fields'
  return FIELDS.find((field, index) => !fields[index]!.split(',').every(part => isRange(part, field)))?.name
}

function isRange(text: string, field: CronField): boolean {
  // the parser skips empty parts of a list
  if (text === '') return true
  const [range = '', step, more] = text.split('/')
  if (more !== undefined || (step !== undefined && !(numberOf(step, [])! > 0))) return false
  const [from = '', to, rest] = range.split('-')
  if (rest !== undefined) return false
  if (from === '*' || from === '?') return to === undefined
  const start = numberOf(from, field.words, field.least)
  const end = to === undefined ? start : numberOf(to, field.words, field.least)
  if (start === undefined || end === undefined) return false
  return field.least <= start && start <= end && end <= field.most
}

function numberOf(text: string, words: readonly string[], first = 0): number | undefined {
  const index = words.indexOf(text.toLowerCase())
  if (index >= 0) return index + first
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}
