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
const ANEW = 'What is not evaluated because of it changed, or is applied in another place or form.'
const APPLIED = 'Before, nothing of it was applied.'

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
    return { ...finding, state: 'waived', message: `${finding.message} ${waivedUntil(granted)}`, waiver: granted }
  }
  const standing = known.get(finding.fingerprint)
  if (standing && !hidden && !isHeavier(finding, standing)) return { ...finding, state: 'standing' }
  if (standing && hidden) return { ...finding, message: `${sentence(finding.message)} ${ANEW}` }
  if (!standing && everywhere.has(finding.fingerprint))
    return { ...finding, message: `${sentence(finding.message)} ${APPLIED}` }
  const other = about.find(one => waivers.holds(one)) ?? about[0]
  return other ? { ...finding, message: finding.message + waivers.refusal(other, finding) } : finding
}

/** Messages end with or without a full stop. */
const sentence = (message: string) => message.replace(/\.?$/, '.')
