import { parseUrl } from '../../cel/kubernetes/parse-url.ts'
import type { Path } from '../../kube/node.ts'
import { isCidr, isIP } from '../core/addresses.ts'
import type { Problem } from '../model/problem.ts'

const UUID = 'a UUID such as 0d2f2f6e-1c2b-4a7d-9d3e-5a6b7c8d9e0f'
/** Of a text that is compared with a format. */
const LONGEST = 10_000
const LONGEST_HOST = 255
const HOST =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u

const matching = (pattern: RegExp) => (text: string) => pattern.test(text)

/** Formats and the texts that the API server accepts (k8s.io/kube-openapi, pkg/validation/strfmt). */
const FORMATS: ReadonlyMap<string, readonly [fits: (text: string) => boolean, allowed: string]> = new Map([
  [
    'date-time',
    [
      matching(/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/),
      'a time such as 2026-01-31T12:00:00Z',
    ],
  ],
  ['date', [matching(/^\d{4}-\d\d-\d\d$/), 'a date such as 2026-01-31']],
  ['uuid', [matching(/^[\da-f]{8}-?(?:[\da-f]{4}-?){3}[\da-f]{12}$/i), UUID]],
  ['uuid3', [matching(/^[\da-f]{8}-?[\da-f]{4}-?3[\da-f]{3}-?[\da-f]{4}-?[\da-f]{12}$/i), UUID]],
  ['uuid4', [matching(/^[\da-f]{8}-?[\da-f]{4}-?4[\da-f]{3}-?[89ab][\da-f]{3}-?[\da-f]{12}$/i), UUID]],
  ['uuid5', [matching(/^[\da-f]{8}-?[\da-f]{4}-?5[\da-f]{3}-?[89ab][\da-f]{3}-?[\da-f]{12}$/i), UUID]],
  ['ipv4', [text => isIP(text) && text.includes('.'), 'an IPv4 address']],
  ['ipv6', [text => isIP(text) && text.includes(':'), 'an IPv6 address']],
  ['cidr', [isCidr, 'a block of addresses such as 10.0.0.0/8']],
  ['byte', [matching(/^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=|[A-Za-z\d+/]{4})$/), 'base64']],
  ['hexcolor', [matching(/^#?(?:[\da-f]{3}|[\da-f]{6})$/i), 'a color such as #00ff00']],
  ['bsonobjectid', [matching(/^[\da-f]{24}$/i), '24 hexadecimal digits']],
  [
    'hostname',
    [
      text =>
        Buffer.byteLength(text) <= LONGEST_HOST &&
        HOST.test(text) &&
        text.split('.').every(part => Buffer.byteLength(part) <= 63),
      'a host name',
    ],
  ],
  ['uri', [text => parseUrl(text) !== undefined, 'a URI']],
])

/** The API server compares these, too. */
const UNDECIDED = new Set(
  'duration email mac isbn isbn10 isbn13 creditcard ssn rgbcolor datetime k8s-short-name k8s-long-name'.split(' '),
)

/** Durations that Go's time.ParseDuration takes without an overflow; the API server takes more, such as `3 days`. */
const GO_DURATION = /^[-+]?(?:0|(?:(?:\d{1,6}(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/
const LONGEST_DURATION = 16

const isGoDuration = (text: string) => text.length <= LONGEST_DURATION && GO_DURATION.test(text)

/** Why a text is not of a format; undefined where it is, or where the API server does not know the format. */
export function formatProblem(text: string, format: string, path: Path): Problem | 'unsure' | undefined {
  const known = FORMATS.get(format)
  if (format === 'duration' && isGoDuration(text)) return undefined
  if (known === undefined) return UNDECIDED.has(format) ? 'unsure' : undefined
  if (text.length > LONGEST) return 'unsure'
  return known[0](text) ? undefined : { kind: 'bad-format', path, allowed: known[1], found: 'text of another form' }
}
