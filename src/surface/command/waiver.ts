import { code, prose } from '../../base/markup.ts'
import { visible } from '../../base/visible.ts'
import type { AcceptedViolation, Waiver } from '../../fleet/model/fleet-config.ts'
import { groupOf } from '../../kube/object.ts'
import { count } from '../../report/text/findings.ts'
import { type Finding, SEVERITIES } from '../../rules/model/finding.ts'
import { commandError, parseReason, quoted } from './command-line.ts'
import { type RecordText, readRecord, recordText, textsOf } from './record.ts'

/** An entry of `waivers` in a fleet's own file. */
export interface WaiverEntry {
  readonly rule: string
  readonly cluster: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  /** What is accepted, by field and value; never empty. */
  readonly violations: readonly AcceptedViolation[]
  readonly reason: string
  readonly requester: string
  /** Absent until someone else accepts it: then it has no effect. */
  readonly approver?: string
  readonly expires: string
}

/** The subject of an entry: the file may have one entry for each. */
type WaiverSubject = Pick<WaiverEntry, 'rule' | 'cluster' | 'kind' | 'namespace' | 'name'>

/** Who asks, why, and until when. */
type WaiverTerms = Pick<WaiverEntry, 'reason' | 'requester' | 'approver' | 'expires'>

/** Builds the narrowest entries that cover these findings: one per rule, object and cluster. */
export function waiverEntries(findings: readonly Finding[], terms: WaiverTerms): WaiverEntry[] {
  const entries = new Map<string, WaiverEntry>()
  for (const { rule, cluster, object, fingerprint, severity, field } of findings) {
    const group = groupOf(object.apiVersion)
    const kind = group === '' ? object.kind : `${group}/${object.kind}`
    const subject = { rule, cluster, kind, namespace: object.namespace, name: object.name }
    const key = subjectKey(subject)
    const others = (entries.get(key)?.violations ?? []).filter(one => one.fingerprint !== fingerprint)
    const violations = [...others, { fingerprint, severity, field: noteOf(field) }]
    entries.set(key, { ...subject, violations, ...terms })
  }
  return [...entries.values()]
}

/** A field as text for the file; undefined if its keys contain characters that people cannot read. */
function noteOf(field: string): string | undefined {
  return /^[\x21-\x7e]{1,200}$/.test(field) ? field : undefined
}

/** A key that is equal for entries with the same rule, cluster and object. */
export function subjectKey({ rule, cluster, kind, namespace, name }: WaiverSubject | Waiver): string {
  return JSON.stringify([rule, cluster ?? '', kind, namespace, name])
}

/** Usage of the command. */
export const WAIVE_USAGE = 'waive RULE|FINDING [--until YYYY-MM-DD] REASON'

const USAGE = `/bailiwick ${WAIVE_USAGE}`
const USUAL_DAYS = 30
const MOST_DAYS = 90

/** What to accept, until when, and why. */
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

/** The option comes before the reason; after the reason's first word, `--until` is an ordinary word. */
function withoutUntil(words: readonly string[]): { until: string | undefined; others: readonly string[] } {
  const [first = '', second, ...rest] = words
  if (first.startsWith('--until=')) return { until: first.slice('--until='.length), others: words.slice(1) }
  if (first === '--until') return { until: second ?? '', others: rest }
  if (first.startsWith('--')) throw commandError(`unknown option ${quoted(first)}`, `Write \`${USAGE}\``)
  return { until: undefined, others: words }
}

/** A day from today to 90 days from now; 30 days from now if none is asked for. Throws `command-input`. */
export function checkedDay(until: string | undefined, today: string): string {
  if (until === undefined) return dayAfter(today, USUAL_DAYS)
  const last = dayAfter(today, MOST_DAYS)
  const fix = `Write a date from ${today} to ${last}, as \`--until ${dayAfter(today, USUAL_DAYS)}\`.`
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(until) && dayAfter(until, 0) === until
  if (!isDay) throw commandError(`${quoted(until)} is not a date`, fix)
  if (until < today) throw commandError(`${until} is in the past`, fix)
  if (until > last) throw commandError(`${until} is more than ${MOST_DAYS} days from now`, fix)
  return until
}

/** '' for an invalid date. */
function dayAfter(day: string, days: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  const time = Date.UTC(year, month - 1, date + days)
  return Number.isNaN(time) ? '' : new Date(time).toISOString().slice(0, 10)
}

/** A waiver pull request: its entries, its requester and its approver. */
export interface WaiverPull {
  readonly entries: readonly WaiverEntry[]
  /** `owner/name#number` of the pull request with the violations. */
  readonly of: string
  /** The author of that pull request. */
  readonly author: string
  readonly approver?: string
}

/** Title and body of the pull request that adds waivers. It is for readers of the fleet, so nothing is hidden. */
export function waiverText(pull: WaiverPull): { readonly title: string; readonly body: string } {
  const { entries, of, author, approver } = pull
  const [first] = entries
  const { reason = '', requester = '', expires = '' } = first ?? {}
  const rules = [...new Set(entries.map(({ rule }) => rule))]
  const what = `Waive ${rules.length === 1 ? rules[0] : count(rules.length, 'rule')}`
  const next =
    approver === undefined
      ? `Next: a fleet admin who is neither ${code(requester, 60)} nor ${code(author, 60)} comments ${code('/bailiwick approve-waiver')} here. Until then it has no effect, even if it is merged.`
      : `Approved by ${code(approver, 60)}. Next: merge it. The waiver takes effect with the merge.`
  const lines = entries.map(({ rule, cluster, kind, namespace, name, violations }) => {
    const fields = violations.map(({ field }) => field).filter(field => field !== undefined)
    const where = fields.length === 0 ? '' : `, ${fields.map(field => code(field, 200)).join(', ')}`
    return `- ${code(rule)}: ${code(`${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`)} on ${code(cluster, 80)}${where}`
  })
  return {
    title: visible(`${what} for ${of} until ${expires}`, 200),
    body: [
      `${code(requester, 60)} requests on ${of} (opened by ${code(author, 60)}) to accept this until ${code(expires)}:`,
      lines.join('\n'),
      'Only the current values are accepted. Another value is a new violation.',
      `Why: ${prose(reason)}`,
      next,
    ].join('\n\n'),
  }
}

/**
 * The record on the commit of a waiver pull request, so that someone who edits its branch or text cannot change who
 * requested it.
 */
export function waiverRecord(pull: WaiverPull): RecordText {
  const { approver, entries } = pull
  const requester = entries[0]?.requester ?? ''
  const title = approver === undefined ? `Requested by ${requester}, not approved` : `Approved by ${approver}`
  return {
    title: title.slice(0, 250),
    summary:
      approver === undefined
        ? `A fleet admin who did not request it comments ${code('/bailiwick approve-waiver')}.`
        : `${code(approver, 60)} approved the request of ${code(requester, 60)}. Later pushes to this branch are not approved.`,
    text: recordText(pull),
  }
}

/** Reads such a record; undefined for a text that we did not write. */
export function readWaiverRecord(text: string): WaiverPull | undefined {
  const { entries, of, author, approver } = readRecord(text) ?? {}
  if (typeof of !== 'string' || typeof author !== 'string' || !Array.isArray(entries)) return undefined
  if (approver !== undefined && typeof approver !== 'string') return undefined
  const read = entries.map(entryOf)
  const known = read.filter(entry => entry !== undefined)
  if (known.length === 0 || known.length !== read.length) return undefined
  return { entries: known, of, author, ...(approver === undefined ? {} : { approver }) }
}

function entryOf(value: unknown): WaiverEntry | undefined {
  const fields = (value ?? {}) as Readonly<Record<string, unknown>>
  const subject = textsOf(fields, 'rule', 'cluster', 'kind', 'namespace', 'name')
  const terms = textsOf(fields, 'reason', 'requester', 'expires')
  const violations = acceptedOf(fields.violations)
  if (!subject || !terms || !violations) return undefined
  const { approver } = fields
  return { ...subject, violations, ...terms, ...(typeof approver === 'string' && approver ? { approver } : {}) }
}

/** What the entry accepts; undefined if waiverRecord did not write it. */
function acceptedOf(value: unknown): readonly AcceptedViolation[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const read = value.map((one: unknown): AcceptedViolation | undefined => {
    const { fingerprint, severity, field } = (one ?? {}) as Readonly<Record<string, unknown>>
    const known = SEVERITIES.find(each => each === severity)
    if (typeof fingerprint !== 'string' || !/^[0-9a-f]{32}$/.test(fingerprint) || !known) return undefined
    return { fingerprint, severity: known, field: typeof field === 'string' ? field : undefined }
  })
  const accepted = read.filter(one => one !== undefined)
  return accepted.length === read.length ? accepted : undefined
}
