import type { Waiver } from '../../fleet/config/fleet-config.ts'
import { groupOf } from '../../kube/object.ts'
import type { Finding } from '../../rules/finding.ts'

/** An entry of `waivers` in a fleet's own file, as it is to be written. */
export interface WaiverEntry {
  readonly rule: string
  readonly cluster: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly reason: string
  readonly requester: string
  /** Absent until somebody else accepts it: then it counts for nothing. */
  readonly approver?: string
  readonly expires: string
}

/** What an entry is about: the file may have one of each. */
export type WaiverSubject = Pick<WaiverEntry, 'rule' | 'cluster' | 'kind' | 'namespace' | 'name'>

/** Who asks, why, and until when. */
export type WaiverTerms = Pick<WaiverEntry, 'reason' | 'requester' | 'expires'>

/** The narrowest entries that cover some findings: one per rule, object and cluster. */
export function waiverEntries(findings: readonly Finding[], terms: WaiverTerms): WaiverEntry[] {
  const entries = findings.map(({ rule, cluster, object }): WaiverEntry => {
    const group = groupOf(object.apiVersion)
    const kind = group === '' ? object.kind : `${group}/${object.kind}`
    return { rule, cluster, kind, namespace: object.namespace, name: object.name, ...terms }
  })
  return [...new Map(entries.map(entry => [subjectKey(entry), entry])).values()]
}

/** Equal for entries about the same. */
export function subjectKey({ rule, cluster, kind, namespace, name }: WaiverSubject | Waiver): string {
  return JSON.stringify([rule, cluster ?? '', kind, namespace, name])
}
