import type { Path } from '../../kube/node.ts'
import type { Problem } from '../model/problem.ts'

/** Formats of which the API server accepts exactly what these match (k8s.io/kube-openapi, pkg/validation/strfmt); others are not compared. */
const FORMATS: ReadonlyMap<string, readonly [pattern: RegExp, allowed: string]> = new Map([
  [
    'date-time',
    [/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/, 'a time such as 2026-01-31T12:00:00Z'],
  ],
  ['date', [/^\d{4}-\d\d-\d\d$/, 'a date such as 2026-01-31']],
  [
    'uuid',
    [
      /^[\da-f]{8}-?[\da-f]{4}-?[\da-f]{4}-?[\da-f]{4}-?[\da-f]{12}$/i,
      'a UUID such as 0d2f2f6e-1c2b-4a7d-9d3e-5a6b7c8d9e0f',
    ],
  ],
  ['ipv4', [/^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/, 'an IPv4 address']],
])

/** Why a text is not of a format; undefined where it is, or where the format is not compared. */
export function formatProblem(text: string, format: string, path: Path): Problem | undefined {
  const known = FORMATS.get(format)
  if (known === undefined || known[0].test(text)) return undefined
  return { kind: 'bad-format', path, allowed: known[1], found: 'text of another form' }
}
