import { readTimestamp } from '../../../cel/times.ts'
import { NotEvaluatedError, RuleError } from './values.ts'

/** A point in time with its UTC offset in minutes. */
export interface GoTime {
  readonly nanos: bigint
  readonly minutes: number
}

const RFC3339 = '2006-01-02T15:04:05Z07:00'
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const FULL = 'January|February|March|April|May|June|July|August|September|October|November|December'
const DAYS = 'Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday'

/** The elements of a Go time layout, longest first, with the pattern that each one matches. */
const PARTS: readonly (readonly [part: string, name: string, pattern: string])[] = [
  ['January', 'month', FULL],
  ['Monday', '', DAYS],
  ['2006', 'year', '\\d{4}'],
  ['Z07:00', 'zone', 'Z|[-+]\\d{2}:\\d{2}'],
  ['-07:00', 'zone', '[-+]\\d{2}:\\d{2}'],
  ['-0700', 'zone', '[-+]\\d{4}'],
  ['Jan', 'month', MONTHS.join('|')],
  ['Mon', '', DAYS.replaceAll(/(\w{3})\w+/g, '$1')],
  ['MST', 'zone', 'UTC|GMT'],
  ['01', 'month', '\\d{2}'],
  ['02', 'day', '\\d{2}'],
  ['_2', 'day', '[ \\d]\\d'],
  ['15', 'hour', '\\d{2}'],
  ['04', 'minute', '\\d{2}'],
  ['05', 'second', '\\d{2}'],
]
const PART = new RegExp(PARTS.map(([part]) => part).join('|'), 'g')
const MAX_LAYOUT = 100

/** Parses a time by a Go layout; an empty layout means RFC 3339. Layouts with other elements are not supported. */
export function readTime(layout: string, text: string): GoTime {
  if (layout === '' || layout === RFC3339) return timeOf(text)
  if (layout.length > MAX_LAYOUT) throw new NotEvaluatedError(`a layout of more than ${MAX_LAYOUT} characters`)
  const literals = layout.split(PART)
  if (literals.some(literal => /\d|PM|pm|\.0|,0/.test(literal))) {
    throw new NotEvaluatedError(`the layout ${JSON.stringify(layout)} is not supported`)
  }
  const parts = layout.match(PART) ?? []
  const found = new RegExp(`^${pattern(literals, parts)}$`).exec(text)
  if (!found) throw new RuleError(`cannot parse ${JSON.stringify(text.slice(0, 100))} as ${JSON.stringify(layout)}`)
  const values = new Map(parts.map((part, index) => [partOf(part)[1], found[index + 1]!]))
  const get = (name: string, other: string) => (values.get(name) ?? other).trim().padStart(2, '0')
  const month = values.get('month') ?? '01'
  const number = /^\d/.test(month) ? month : String(MONTHS.indexOf(month.slice(0, 3)) + 1).padStart(2, '0')
  const zone = (values.get('zone') ?? 'Z').replace(/^(?:UTC|GMT)$/, 'Z').replace(/^([-+]\d{2})(\d{2})$/, '$1:$2')
  const clock = `${get('hour', '00')}:${get('minute', '00')}:${get('second', '00')}`
  return timeOf(`${values.get('year') ?? '0000'}-${number}-${get('day', '01')}T${clock}${zone}`)
}

const partOf = (part: string) => PARTS.find(([one]) => one === part)!

function pattern(literals: readonly string[], parts: readonly string[]): string {
  return literals
    .map((literal, index) => {
      const part = parts[index]
      const escaped = literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      return part === undefined ? escaped : `${escaped}(${partOf(part)[2]})`
    })
    .join('')
}

function timeOf(text: string): GoTime {
  const nanos = readTimestamp(text)
  const [, sign, hours = '0', minutes = '0'] = /([-+])(\d{2}):(\d{2})$/.exec(text) ?? []
  if (nanos === undefined) throw new RuleError(`${JSON.stringify(text.slice(0, 100))} is not a time`)
  const east = Number(hours) * 60 + Number(minutes)
  return { nanos, minutes: sign === '-' ? -east : east }
}

/** RFC 3339 without fractional seconds. */
export function formatTime({ nanos, minutes }: GoTime): string {
  const seconds = nanos / 1_000_000_000n - (nanos % 1_000_000_000n < 0n ? 1n : 0n)
  const local = new Date((Number(seconds) + minutes * 60) * 1000)
  if (Number.isNaN(local.getTime())) throw new NotEvaluatedError('a time out of range')
  const size = Math.abs(minutes)
  const two = (number: number) => String(number).padStart(2, '0')
  const zone = minutes === 0 ? 'Z' : `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
  return local.toISOString().slice(0, 19) + zone
}
