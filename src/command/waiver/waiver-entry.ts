import type { AcceptedViolation, Waiver } from '../../fleet/model/fleet-config.ts'
import { groupOf } from '../../kube/object.ts'
import type { Finding } from '../../rules/model/finding.ts'

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

/** What an entry is about: the file may have one of each. */
type WaiverSubject = Pick<WaiverEntry, 'rule' | 'cluster' | 'kind' | 'namespace' | 'name'>

/** Who asks, why, and until when. */
type WaiverTerms = Pick<WaiverEntry, 'reason' | 'requester' | 'expires'>

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

/** A field for people: keys of an object may hold anything, and a file for people holds only what can be read. */
function noteOf(field: string): string | undefined {
  return /^[\x21-\x7e]{1,200}$/.test(field) ? field : undefined
}

/** A key that is equal for entries with the same rule, cluster and object. */
export function subjectKey({ rule, cluster, kind, namespace, name }: WaiverSubject | Waiver): string {
  return JSON.stringify([rule, cluster ?? '', kind, namespace, name])
}
