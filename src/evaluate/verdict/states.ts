import { type Message, message, untyped } from '../../message/message.ts'
import { fixOf, sayingOf, typedMessage } from '../../message/said.ts'
import type { Baseline } from '../../rules/model/baseline.ts'
import type { Finding, Severity } from '../../rules/model/finding.ts'
import { isHeavier } from './level-of.ts'
import { type Waivers, waivedUntil } from './waivers.ts'

/** How much something that stood already counted then. */
interface Standing {
  readonly level: Finding['level']
  readonly severity: Severity
}

/** What stood already, by fingerprint: the findings of the base, or the entries of the baseline file. */
export type Known = ReadonlyMap<string, Standing>

/** Findings as what stood; where one is there twice, the heavier one. */
export function knownOf(findings: Iterable<Finding>): Known {
  const known = new Map<string, Standing>()
  for (const { fingerprint, level, severity } of findings) {
    const other = known.get(fingerprint)
    if (!other || isHeavier({ level, severity }, other)) known.set(fingerprint, { level, severity })
  }
  return known
}

/** The violations as what stands: one without a severity stands whatever the rules make of it later. */
export function knownOfBaseline(baseline: Baseline): Known {
  const violations = [...baseline].filter(([, { hides }]) => hides === undefined)
  return new Map(
    violations.map(([fingerprint, { severity = 'critical' }]) => [fingerprint, { level: 'violation', severity }]),
  )
}

/** Why a finding that was there before counts again. */
const ANEW = message`What is not evaluated because of it changed, or is applied in another place or form.`
const APPLIED = message`Before, nothing of it was applied.`

/**
 * A finding with its state. `known`: what stood where it was applied; `everywhere`: also where nothing of it was. `hidden`: it
 * stands for something else that was not evaluated than before, which nobody can have waived.
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

/** The finding with more said at its end. */
function saying(finding: Finding, more: Message): Finding {
  const { said: _said, saidFix: _fix, ...rest } = finding
  return { ...rest, ...sayingOf(message`${typedMessage(finding)}${more}`, fixOf(finding)) }
}
