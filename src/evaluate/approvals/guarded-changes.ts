import { FLEET_FILE } from '../../fleet/model/fleet-config.ts'
import { BASELINE_FILE } from '../../rules/model/baseline.ts'

/** A change of a file that decides who may change what: its content cannot be evaluated, only who agreed to it. */
export interface GuardedChange {
  readonly rule: 'gate-config-change' | 'gate-workflow-change'
  readonly path: string
  /** What the file does, for a sentence. */
  readonly what: string
}

/** GitHub looks for it in three places, the first wins; a file of another case in one of them is never a slip. */
const OWNERS = new Set(['codeowners', '.github/codeowners', 'docs/codeowners'])

/**
 * The changed files of a fleet's repository that its admins must agree to, in the order of paths: our own file and
 * baseline, CODEOWNERS, and workflows with local actions, which can push and forge a status. In any case of letters.
 */
export function guardedChanges(changed: ReadonlySet<string>): GuardedChange[] {
  return [...changed].sort().flatMap(path => guardedChange(path) ?? [])
}

function guardedChange(path: string): GuardedChange | undefined {
  const name = path.toLowerCase()
  if (name === FLEET_FILE) return { rule: 'gate-config-change', path, what: 'configures what Bailiwick allows' }
  if (name === BASELINE_FILE) return { rule: 'gate-config-change', path, what: 'lists accepted findings' }
  if (OWNERS.has(name)) return { rule: 'gate-config-change', path, what: 'configures who must review a change' }
  if (!/^\.github\/(?:workflows|actions)\//.test(name)) return undefined
  return { rule: 'gate-workflow-change', path, what: 'runs with rights on this repository' }
}
