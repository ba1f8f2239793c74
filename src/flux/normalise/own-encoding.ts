import { BailiwickError } from '../../errors.ts'
import { textNode } from '../../kube/edit-node.ts'
import type { Node, ScalarValue } from '../../kube/node.ts'
import type { OwnEncoding } from './go-type.ts'
import { canonicalQuantity } from './quantity.ts'

/** What such a type writes when nobody set it. */
export function ownZero(name: OwnEncoding): ScalarValue {
  if (name === 'Quantity') return '0'
  return name === 'IntOrString' ? 0 : null
}

/**
 * A value after a type that decodes and encodes itself has read and written it. Undefined where it does not fit. Throws
 * `flux-unsupported` for times in forms that only Go's lenient reader takes.
 */
export function ownRoundTrip(node: Node, name: OwnEncoding): Node | undefined {
  if (name === 'RawExtension' || name === 'FieldsV1') return node
  if (node.type !== 'scalar') return undefined
  const { value, origin } = node
  if (name === 'IntOrString') {
    const fits = typeof value === 'string' || (typeof value === 'number' && (value | 0) === value)
    return fits ? node : undefined
  }
  if (name === 'Quantity') {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return undefined
    const written = canonicalQuantity(String(value), origin)
    if (written === undefined) return undefined
    return written === value ? node : textNode(written, origin)
  }
  if (typeof value !== 'string') return undefined
  const written = canonicalTime(value, name === 'MicroTime')
  if (written === 'unsure') {
    throw new BailiwickError('flux-unsupported', 'the time is not in RFC 3339 format', {
      origin,
      fix: 'Write it like 2024-01-31T12:00:00Z.',
    })
  }
  if (written === undefined) return undefined
  return written === value ? node : textNode(written, origin)
}

const STRICT = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[-+]\d\d:\d\d)$/
const LENIENT = /^\d{4}-\d\d-\d\dT\d/

/** A time in UTC, cut to seconds or to microseconds; undefined for what Go refuses. */
function canonicalTime(text: string, micro: boolean): string | 'unsure' | undefined {
  const match = STRICT.exec(text)
  if (!match) return LENIENT.test(text) ? 'unsure' : undefined
  const [, year, month, day, hour, minute, second, fraction = '', zone = 'Z'] = match
  if (micro && fraction.length !== 6) return undefined
  const local = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
  const shown = new Date(local).toISOString().slice(0, 19)
  if (shown !== `${year}-${month}-${day}T${hour}:${minute}:${second}`) return undefined
  const [zoneHours = 0, zoneMinutes = 0] = zone === 'Z' ? [] : zone.slice(1).split(':').map(Number)
  if (zoneHours > 24 || zoneMinutes >= 60) return undefined
  const offset = (zoneHours * 60 + zoneMinutes) * (zone.startsWith('-') ? -60_000 : 60_000)
  const utc = new Date(local - offset).toISOString()
  if (!/^\d{4}-/.test(utc)) return 'unsure'
  return `${utc.slice(0, 19)}${micro ? `.${fraction}` : ''}Z`
}
