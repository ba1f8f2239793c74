import { display } from '../../kube/object.ts'
import type { Finding } from '../finding.ts'
import type { Baseline } from './baseline.ts'
import { isHeavier } from './level-of.ts'

const HEAD = `# Violations that stood here before the rules did. They do not block until they get worse.
# Written by \`bailiwick baseline\`; fingerprint, severity and reason are kept, the rest is for people.
`

/**
 * The baseline file that lists these violations. The same violations give the same bytes, in an order that does not
 * follow files or lines, so that a change of the fleet changes only the entries that it is about. `before`: what the
 * file said, whose reasons stay; `keep`: those entries stay too, as what they name could not be looked at.
 */
export function baselineText(violations: Iterable<Finding>, before: Baseline, keep: boolean): string {
  const found = new Map<string, Finding>()
  for (const one of violations) {
    const other = found.get(one.fingerprint)
    if (!other || isHeavier(one, other)) found.set(one.fingerprint, one)
  }
  const kept = keep ? [...before].filter(([fingerprint]) => !found.has(fingerprint)) : []
  const entries = [
    ...[...found.values()].map(one => entryOf(one, before.get(one.fingerprint)?.reason)),
    ...kept.map(([fingerprint, { severity, reason }]) => ({
      order: `~${fingerprint}`,
      text: lines(fingerprint, { severity, reason: reason ?? 'it could not be looked at when this was written' }),
    })),
  ].sort((a, b) => (a.order < b.order ? -1 : 1))
  if (entries.length === 0) return `${HEAD}violations: []\n`
  return `${HEAD}violations:\n${entries.map(({ text }) => text).join('')}`
}

function entryOf(finding: Finding, reason: string | undefined): { readonly order: string; readonly text: string } {
  const { fingerprint, rule, severity, cluster, tenant, object, field } = finding
  const notes = { rule, cluster, tenant, object: display(object), field, reason }
  return {
    order: JSON.stringify([cluster, tenant, rule, display(object), field, fingerprint]),
    text: lines(fingerprint, { severity, ...notes }),
  }
}

function lines(fingerprint: string, notes: Readonly<Record<string, string | undefined>>): string {
  const written = Object.entries(notes).filter(([, value]) => value !== undefined && value !== '')
  return `  - fingerprint: ${quoted(fingerprint)}\n${written.map(([key, value]) => `    ${key}: ${quoted(value!)}\n`).join('')}`
}

/** A text of one line that every reader of YAML reads alike: in double quotes, in ASCII, cut. */
function quoted(value: string): string {
  const cut = value.length > 300 ? `${value.slice(0, 300)}...` : value
  return JSON.stringify(cut).replace(/[^\x20-\x7e]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
