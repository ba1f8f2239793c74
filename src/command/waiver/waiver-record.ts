import type { AcceptedViolation } from '../../fleet/model/fleet-config.ts'
import { code } from '../../message/markdown.ts'
import { SEVERITIES } from '../../rules/model/finding.ts'
import { type RecordText, readRecord, recordText } from '../record.ts'
import type { WaiverEntry } from './waiver-entry.ts'
import type { WaiverPull } from './waiver-text.ts'

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
  const text = (key: keyof WaiverEntry) => (typeof fields[key] === 'string' ? fields[key] : undefined)
  const [rule, cluster, kind, namespace, name] = [
    text('rule'),
    text('cluster'),
    text('kind'),
    text('namespace'),
    text('name'),
  ]
  const [reason, requester, approver, expires] = [text('reason'), text('requester'), text('approver'), text('expires')]
  if (rule === undefined || cluster === undefined || kind === undefined || namespace === undefined) return undefined
  const violations = acceptedOf(fields.violations)
  if (violations === undefined) return undefined
  if (name === undefined || reason === undefined || requester === undefined || expires === undefined) return undefined
  return {
    rule,
    cluster,
    kind,
    namespace,
    name,
    violations,
    reason,
    requester,
    expires,
    ...(approver ? { approver } : {}),
  }
}

/** What the entry accepts; undefined where that is not what waiverRecord wrote. */
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
