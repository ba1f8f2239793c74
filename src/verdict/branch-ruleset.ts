import { CHECK_NAME } from './check-names.ts'
import type { OurCheck } from './evaluate-protection.ts'

/** A ruleset in the format of GitHub's API, which the import page also accepts. */
export interface WantedRuleset {
  readonly name: string
  readonly target: 'branch'
  readonly enforcement: 'active'
  readonly bypass_actors: never[]
  readonly conditions: { ref_name: { include: string[]; exclude: string[] } }
  readonly rules: (
    | { type: 'deletion' | 'non_fast_forward' }
    | {
        type: 'pull_request'
        parameters: {
          dismiss_stale_reviews_on_push: boolean
          require_code_owner_review: boolean
          require_last_push_approval: boolean
          required_approving_review_count: number
          required_review_thread_resolution: boolean
        }
      }
    | {
        type: 'required_status_checks'
        parameters: {
          strict_required_status_checks_policy: boolean
          do_not_enforce_on_create: boolean
          required_status_checks: { context: string; integration_id: number }[]
        }
      }
  )[]
}

/** The name of the ruleset, by which it is found again. */
export const RULESET_NAME = 'Bailiwick'

/** The ruleset of a check that one base of several has. */
export function rulesetNameOf(check: string): string {
  return check === CHECK_NAME ? RULESET_NAME : `${RULESET_NAME}${check.slice(CHECK_NAME.length)}`
}

/** Whether a ruleset has a name that `/bailiwick gate` gives. */
export const isGateRuleset = (name: string): boolean =>
  name === RULESET_NAME || (name.startsWith(`${RULESET_NAME} (`) && name.endsWith(')'))

/**
 * Builds the ruleset that gates these branches for everyone: our check required from our App, branches up to date, pull
 * requests only, no force push or deletion. It requires no reviews, which the repository decides. Undefined if a branch
 * name would be read as a pattern (git allows no such name).
 */
export function wantedRuleset(branches: readonly string[], { name, app }: OurCheck): WantedRuleset | undefined {
  if (branches.length === 0 || branches.some(branch => /[*?[\]\\~]/.test(branch))) return undefined
  const reviews = {
    ...{ dismiss_stale_reviews_on_push: false, require_code_owner_review: false, require_last_push_approval: false },
    ...{ required_approving_review_count: 0, required_review_thread_resolution: false },
  }
  return {
    ...{ name: rulesetNameOf(name), target: 'branch', enforcement: 'active', bypass_actors: [] },
    conditions: { ref_name: { include: [...branches].sort().map(branch => `refs/heads/${branch}`), exclude: [] } },
    rules: [
      { type: 'deletion' },
      { type: 'non_fast_forward' },
      { type: 'pull_request', parameters: reviews },
      {
        type: 'required_status_checks',
        parameters: {
          strict_required_status_checks_policy: true,
          do_not_enforce_on_create: false,
          required_status_checks: [{ context: name, integration_id: app }],
        },
      },
    ],
  }
}

/** The `ref_name` condition of a ruleset. */
interface RefCondition {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

/**
 * Whether a ruleset applies to a branch. Patterns follow Ruby's File.fnmatch with FNM_PATHNAME, as GitHub documents.
 */
export function namesBranch({ include, exclude }: RefCondition, branch: string, isDefault: boolean): boolean {
  const matches = (pattern: string) => {
    if (pattern === '~ALL') return true
    if (pattern === '~DEFAULT_BRANCH') return isDefault
    return globMatches(pattern, `refs/heads/${branch}`)
  }
  return include.some(matches) && !exclude.some(matches)
}

/** No real pattern has more; the two of them bound the work. */
const MAX_PATTERN = 300

/** `*` and `?` stay within a part of the name, a part `**` stands for any number of parts. Never slower than length by length. */
function globMatches(pattern: string, name: string): boolean {
  if (pattern.length > MAX_PATTERN) return false
  return partsMatch(pattern.split('/'), name.split('/'))
}

function partsMatch(patterns: readonly string[], parts: readonly string[]): boolean {
  // reached[i]: the patterns so far match the first i parts
  let reached = [true, ...parts.map(() => false)]
  for (const pattern of patterns) {
    reached = reached.map((_, end) => {
      if (pattern === '**') return reached.slice(0, end + 1).includes(true)
      return end > 0 && reached[end - 1] === true && partMatches(pattern, parts[end - 1] ?? '')
    })
  }
  return reached.at(-1) === true
}

function partMatches(pattern: string, part: string): boolean {
  let reached = [true, ...[...part].map(() => false)]
  const chars = [...part]
  for (const char of pattern.replace(/\*+/g, '*')) {
    reached = reached.map((_, end) => {
      if (char === '*') return reached.slice(0, end + 1).includes(true)
      return end > 0 && reached[end - 1] === true && (char === '?' || char === chars[end - 1])
    })
  }
  return reached.at(-1) === true
}
