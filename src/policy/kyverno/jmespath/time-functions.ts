import { readGoDuration } from '../../../cel/times.ts'
import { formatTime, type GoTime, readTime } from './go-time.ts'
import { type KyvernoFunctions, ofTexts } from './jmespath-function.ts'
import { durationText } from './operand.ts'
import { NotEvaluatedError, RuleError } from './values.ts'

const NOW = 'it depends on the time at which the object is applied'
/** Nanoseconds from Go's zero time (year 1) to 1970. */
const FROM_YEAR_ONE = 62_135_596_800n * 1_000_000_000n

/** Time functions (pkg/engine/jmespath/time.go of Kyverno). */
export const TIME_FUNCTIONS: KyvernoFunctions = {
  time_now: ofTexts(0, now),
  time_now_utc: ofTexts(0, now),
  time_since: ofTexts(3, (layout, from, to) => {
    const start = readTime(layout, from)
    return to === '' ? now() : durationText(readTime(layout, to).nanos - start.nanos)
  }),
  time_diff: ofTexts(2, (from, to) => durationText(time(to).nanos - time(from).nanos)),
  time_before: ofTexts(2, (a, b) => time(a).nanos < time(b).nanos),
  time_after: ofTexts(2, (a, b) => time(a).nanos > time(b).nanos),
  time_between: ofTexts(3, (text, from, to) => {
    const { nanos } = time(text)
    return nanos > time(from).nanos && nanos < time(to).nanos
  }),
  time_add: ofTexts(2, (text, more) => {
    const start = time(text)
    return formatTime({ ...start, nanos: start.nanos + duration(more) })
  }),
  time_truncate: ofTexts(2, (text, to) => {
    const [start, unit] = [time(text), duration(to)]
    if (unit <= 0n) return formatTime(start)
    const since = start.nanos + FROM_YEAR_ONE
    return formatTime({ ...start, nanos: start.nanos - (since % unit) })
  }),
  time_utc: ofTexts(1, text => formatTime({ nanos: time(text).nanos, minutes: 0 })),
  time_parse: ofTexts(2, (layout, text) => {
    if (!/^[+-]?\d{1,18}$/.test(layout)) return formatTime(readTime(layout, text))
    if (!/^[+-]?\d{1,12}$/.test(text)) throw new RuleError('time_parse: not a number of seconds')
    return formatTime({ nanos: BigInt(text) * 1_000_000_000n, minutes: 0 })
  }),
  time_to_cron: ofTexts(1, text => {
    const { nanos, minutes } = time(text)
    const local = new Date(Number(nanos / 1_000_000n) + minutes * 60_000)
    const [minute, hour, day] = [local.getUTCMinutes(), local.getUTCHours(), local.getUTCDate()]
    return `${minute} ${hour} ${day} ${local.getUTCMonth() + 1} ${local.getUTCDay()}`
  }),
}

function now(): never {
  throw new NotEvaluatedError(NOW)
}

const time = (text: string): GoTime => readTime('', text)

function duration(text: string): bigint {
  const nanos = readGoDuration(text)
  if (nanos === undefined) throw new RuleError(`${JSON.stringify(text)} is not a duration`)
  return nanos
}
