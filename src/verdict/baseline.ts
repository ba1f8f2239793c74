import type { Fleet } from '../fleet/model/fleet.ts'
import { display } from '../kube/object.ts'
import type { Baseline } from '../rules/model/baseline.ts'
import type { Finding, NodeFailure, Verdict } from '../rules/model/finding.ts'
import { evaluateFleet } from './evaluate-fleet.ts'
import { isHeavier } from './findings.ts'

const HEAD = `# Existing violations. They do not block until they get worse.
# Written by \`bailiwick baseline\`; fingerprint, severity and reason are read, the other fields are for people.
`
const ERRORS = `# Accepted evaluation errors. If the hidden content (hides) changes, they are errors again.
# The worker does not apply a Kustomization with such an error.
`

/** What a baseline is made of. */
interface Stands {
  readonly violations: Iterable<Finding>
  readonly errors: Iterable<NodeFailure>
}

/**
 * The baseline file that lists these violations. The same violations give the same bytes, in an order that does not
 * follow files or lines, so that a change of the fleet changes only the entries that it is about. `before`: the old
 * file, whose reasons stay; `keep`: its entries stay too, as what they name could not be looked at.
 */
export function baselineText({ violations, errors }: Stands, before: Baseline, keep: boolean): string {
  const found = new Map<string, Finding>()
  for (const one of violations) {
    const other = found.get(one.fingerprint)
    if (!other || isHeavier(one, other)) found.set(one.fingerprint, one)
  }
  const kept = keep ? [...before].filter(([print, { hides }]) => hides === undefined && !found.has(print)) : []
  const entries = [
    ...[...found.values()].map(one => entryOf(one, before.get(one.fingerprint)?.reason)),
    ...kept.map(([fingerprint, { severity, reason }]) => ({
      order: `~${fingerprint}`,
      text: lines(fingerprint, { severity, reason: reason ?? 'it could not be evaluated when this file was written' }),
    })),
  ].sort((a, b) => (a.order < b.order ? -1 : 1))
  const list = entries.length === 0 ? ' []\n' : `\n${entries.map(({ text }) => text).join('')}`
  return `${HEAD}violations:${list}${errorsText(errors, before)}`
}

/** What cannot be evaluated now: an error that is gone is not kept, as it would hide the next one. */
function errorsText(errors: Iterable<NodeFailure>, before: Baseline): string {
  const causes = Map.groupBy([...errors].filter(isAcceptable), one => one.fingerprint)
  const entries = [...causes].map(([fingerprint, all]) => {
    const [{ code, message, origin }] = all as [NodeFailure, ...NodeFailure[]]
    const hides = [...new Set(all.map(one => one.hides ?? ''))].filter(digest => digest !== '').sort()
    const notes = { code, file: origin.file, message, reason: before.get(fingerprint)?.reason }
    const digests = `    hides: [${hides.map(quoted).join(', ')}]\n`
    return { order: JSON.stringify([code, origin.file, fingerprint]), text: lines(fingerprint, notes, digests) }
  })
  if (entries.length === 0) return ''
  entries.sort((a, b) => (a.order < b.order ? -1 : 1))
  return `${ERRORS}errors:\n${entries.map(({ text }) => text).join('')}`
}

/** Whether a baseline can accept it: not if nothing was evaluated at all, or a source is not read yet. */
export function isAcceptable({ hides }: NodeFailure): boolean {
  return hides !== undefined
}

function entryOf(finding: Finding, reason: string | undefined): { readonly order: string; readonly text: string } {
  const { fingerprint, rule, severity, cluster, tenant, object, field } = finding
  const notes = { rule, cluster, tenant, object: display(object), field, reason }
  return {
    order: JSON.stringify([cluster, tenant, rule, display(object), field, fingerprint]),
    text: lines(fingerprint, { severity, ...notes }),
  }
}

function lines(fingerprint: string, notes: Readonly<Record<string, string | undefined>>, more = ''): string {
  const written = Object.entries(notes).filter(([, value]) => value !== undefined && value !== '')
  return `  - fingerprint: ${quoted(fingerprint)}\n${more}${written.map(([key, value]) => `    ${key}: ${quoted(value!)}\n`).join('')}`
}

/** A text of one line that every reader of YAML reads alike: in double quotes, in ASCII, cut. */
function quoted(value: string): string {
  const cut = value.length > 300 ? `${value.slice(0, 300)}...` : value
  return JSON.stringify(cut).replace(/[^\x20-\x7e]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The existing findings of a fleet, for every tenant. */
interface Legacy {
  readonly verdict: Verdict
  /** The violations that belong into a baseline: a waiver ends by itself, what it covers has no place there. */
  readonly violations: readonly Finding[]
}

/** Evaluates a fleet by itself as if it blocked: what is only reported on today would block the day that changes. Pure. */
export function legacyViolations(fleet: Fleet, when: { readonly revisionSet: string; readonly today: string }): Legacy {
  const tenants = [...fleet.config.tenants].map(([name, one]) => [name, { ...one, enforcement: undefined }] as const)
  const config = { ...fleet.config, enforcement: 'block' as const, tenants: new Map(tenants) }
  const { verdict } = evaluateFleet({ ...fleet, config }, when)
  return { verdict, violations: verdict.violations.filter(one => one.state === 'new') }
}
