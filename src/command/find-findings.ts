import type { Finding } from '../rules/model/finding.ts'
import { commandError, quoted } from './command-error.ts'

/** Shorter beginnings of a fingerprint say nothing. */
const SHORTEST = 6

/**
 * Finds the visible findings of a rule, or the one whose fingerprint starts with `target`. `isRule`: whether the rule
 * exists. Throws `command-input` if nothing matches, or more than one finding.
 */
export function findFindings<T extends Pick<Finding, 'rule' | 'fingerprint'>>(
  target: string,
  findings: readonly T[],
  isRule: (id: string) => boolean,
): readonly T[] {
  if (isRule(target)) return findings.filter(({ rule }) => rule === target)
  if (!/^[0-9a-f]{6,32}$/.test(target)) {
    throw commandError(
      `unknown rule ${quoted(target)}, and a finding has at least ${SHORTEST} hexadecimal digits`,
      '`docs/rules.md` lists the rules, `/bailiwick status` the findings.',
    )
  }
  const found = findings.filter(({ fingerprint }) => fingerprint.startsWith(target))
  const different = new Set(found.map(({ fingerprint }) => fingerprint))
  if (different.size === 1) return found
  const what = different.size === 0 ? 'no finding of this' : `${different.size} findings of this`
  const fix = different.size === 0 ? '`/bailiwick status` lists the findings.' : 'Write more of its digits.'
  throw commandError(`${what} begins with ${target}`, fix)
}

/** The short form of a fingerprint, as shown to people. */
export function shortFingerprint(fingerprint: string): string {
  return fingerprint.slice(0, 12)
}
