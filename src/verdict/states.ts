import { hash } from 'node:crypto'
import { fixOf, type Message, message, sayingOf, typedMessage, untyped } from '../base/message.ts'
import { shown } from '../fleet/facts/shown.ts'
import { FLEET_FILE, type Waiver } from '../fleet/model/fleet-config.ts'
import { groupOf } from '../kube/object.ts'
import type { Baseline } from '../rules/model/baseline.ts'
import type { Finding, GrantedWaiver, Severity } from '../rules/model/finding.ts'
import { isHeavier } from './findings.ts'

/** How much an existing finding already counted. */
interface Standing {
  readonly level: Finding['level']
  readonly severity: Severity
}

/** Existing findings by fingerprint: those of the base, or the entries of the baseline file. */
export type Known = ReadonlyMap<string, Standing>

/** Findings as existing ones; of two with one fingerprint, the heavier. */
export function knownOf(findings: Iterable<Finding>): Known {
  const known = new Map<string, Standing>()
  for (const { fingerprint, level, severity } of findings) {
    const other = known.get(fingerprint)
    if (!other || isHeavier({ level, severity }, other)) known.set(fingerprint, { level, severity })
  }
  return known
}

/** The violations as existing ones: one without a severity is existing, whatever the rules make of it later. */
export function knownOfBaseline(baseline: Baseline): Known {
  const violations = [...baseline].filter(([, { hides }]) => hides === undefined)
  return new Map(
    violations.map(([fingerprint, { severity = 'critical' }]) => [fingerprint, { level: 'violation', severity }]),
  )
}

/** Why an existing finding counts again. */
const ANEW = message`What is not evaluated because of it changed, or is applied in another place or form.`
const APPLIED = message`Before, nothing of it was applied.`

/**
 * A finding with its state. `known`: existing where it was applied; `everywhere`: also where nothing of it was.
 * `hidden`: it hides other content than before, which no waiver can cover.
 */
export function withState(
  finding: Finding,
  known: Known,
  waivers: Waivers,
  hidden: boolean,
  everywhere: Known = known,
): Finding {
  const about = hidden ? [] : waivers.about(finding)
  const waiver = about.find(one => waivers.accepts(one, finding))
  if (waiver) {
    const granted = { expires: waiver.expires, approver: waiver.approver ?? '', reason: waiver.reason }
    return { ...saying(finding, message` ${untyped(waivedUntil(granted))}`), state: 'waived', waiver: granted }
  }
  const standing = known.get(finding.fingerprint)
  if (standing && !hidden && !isHeavier(finding, standing)) return { ...finding, state: 'standing' }
  if (standing && hidden) return saying(finding, message`${stop(finding)} ${ANEW}`)
  if (!standing && everywhere.has(finding.fingerprint)) return saying(finding, message`${stop(finding)} ${APPLIED}`)
  const other = about.find(one => waivers.holds(one)) ?? about[0]
  return other ? saying(finding, untyped(waivers.refusal(other, finding))) : finding
}

/** Messages end with or without a full stop. */
const stop = ({ message: text }: Finding) => (text.endsWith('.') ? message`` : message`.`)

/** The finding with a sentence added at the end of its message. */
function saying(finding: Finding, more: Message): Finding {
  const { typed: _typed, typedFix: _fix, ...rest } = finding
  return { ...rest, ...sayingOf(message`${typedMessage(finding)}${more}`, fixOf(finding)) }
}

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** The waivers of a fleet on a day. Without a day none is valid, as each of them ends some day. */
export class Waivers {
  readonly #byRule: ReadonlyMap<string, readonly Waiver[]>
  readonly #today: string | undefined

  constructor(waivers: readonly Waiver[], today: string | undefined) {
    this.#byRule = Map.groupBy(waivers, waiver => waiver.rule)
    this.#today = today !== undefined && DAY.test(today) ? today : undefined
  }

  /** Those that match a finding, valid or not. */
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

  /** A waiver is valid on its last day, and never if only its requester accepted it. */
  holds(waiver: Waiver): boolean {
    return isApproved(waiver) && this.#lasts(waiver)
  }

  /** Whether a waiver may be for a change that is not merged yet: it names a requester, and has not ended. */
  isAwaited(waiver: Waiver): boolean {
    return waiver.requester !== undefined && this.#lasts(waiver)
  }

  #lasts({ expires }: Waiver): boolean {
    return this.#today !== undefined && this.#today <= expires
  }

  /** The revision set and what depends on the day: another day may give another verdict on the same commits. */
  revisionSetWith(revisionSet: string): string {
    const all = [...this.#byRule.values()].flat()
    if (all.length === 0) return revisionSet
    const holding = all.map(waiver => (this.holds(waiver) ? 'holds' : 'ended'))
    return hash('sha256', JSON.stringify([revisionSet, holding]))
  }

  /** What a waiver that does not accept it adds to it. */
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

/** Someone other than the requester accepted it; logins ignore case, and may be written as mentions. */
function isApproved({ requester, approver }: Waiver): boolean {
  const login = (who: string) => who.trim().replace(/^@/, '').toLowerCase()
  return approver !== undefined && (requester === undefined || login(requester) !== login(approver))
}
