import { hash } from 'node:crypto'
import { shown } from '../../facts/shown.ts'
import { FLEET_FILE, type Waiver } from '../../fleet/model/fleet-config.ts'
import { groupOf } from '../../kube/object.ts'
import type { Finding, GrantedWaiver } from '../../rules/model/finding.ts'
import { isHeavier } from './level-of.ts'

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** The waivers of a fleet on a day. Who does not say which day it is has none that holds: each of them ends some day. */
export class Waivers {
  readonly #byRule: ReadonlyMap<string, readonly Waiver[]>
  readonly #today: string | undefined

  constructor(waivers: readonly Waiver[], today: string | undefined) {
    this.#byRule = Map.groupBy(waivers, waiver => waiver.rule)
    this.#today = today !== undefined && DAY.test(today) ? today : undefined
  }

  /** Those that speak of what was found, whether they hold or not. */
  about({ rule, cluster, object }: Finding): readonly Waiver[] {
    return (this.#byRule.get(rule) ?? []).filter(waiver => {
      const kinds = [object.kind, `${groupOf(object.apiVersion)}/${object.kind}`]
      const sameCluster = waiver.cluster === undefined || waiver.cluster === cluster
      return (
        sameCluster &&
        kinds.includes(waiver.kind) &&
        waiver.namespace === object.namespace &&
        waiver.name === object.name
      )
    })
  }

  /**
   * Whether a waiver that holds accepts this very violation: this value, not more severe than it was. An object and a rule
   * alone would cover whatever comes later.
   */
  accepts(waiver: Waiver, { fingerprint, level, severity }: Finding): boolean {
    const accepted = waiver.violations.find(one => one.fingerprint === fingerprint)
    if (!accepted || !this.holds(waiver)) return false
    return accepted.severity === undefined || !isHeavier({ level, severity }, { level, severity: accepted.severity })
  }

  /** The last day of a waiver is a day on which it holds. One that nobody but who asked for it accepted never does. */
  holds(waiver: Waiver): boolean {
    return isApproved(waiver) && this.#today !== undefined && this.#today <= waiver.expires
  }

  /** The combination with what the day makes of it: another day may give another verdict on the same commits. */
  revisionSetWith(revisionSet: string): string {
    const all = [...this.#byRule.values()].flat()
    if (all.length === 0) return revisionSet
    const holding = all.map(waiver => (this.holds(waiver) ? 'holds' : 'ended'))
    return hash('sha256', JSON.stringify([revisionSet, holding]))
  }

  /** What one that does not accept it adds to it. */
  refusal(waiver: Waiver, { fingerprint, severity }: Finding): string {
    const { expires, origin } = waiver
    const where = `${origin.file}:${origin.line}`
    if (!isApproved(waiver)) return ` Its waiver (${where}) has no effect: only its requester has accepted it.`
    if (!this.holds(waiver)) return ` Its waiver (${where}) has expired: it ended on ${expires}.`
    return ` The waiver of this object (${where}) does not accept this value. To accept it, add {fingerprint: "${fingerprint}", severity: ${severity}} to the waiver's violations in ${FLEET_FILE}.`
  }
}

/** Until when, by whom and why something is waived, as a sentence. */
export function waivedUntil({ expires, approver, reason }: GrantedWaiver): string {
  return `Waived until ${expires} by ${shown(approver)}: ${shown(reason)}.`
}

/** Someone accepted it who did not ask for it; logins have no case, and may be written as mentions. */
function isApproved({ requester, approver }: Waiver): boolean {
  const login = (who: string) => who.trim().replace(/^@/, '').toLowerCase()
  return approver !== undefined && (requester === undefined || login(requester) !== login(approver))
}
