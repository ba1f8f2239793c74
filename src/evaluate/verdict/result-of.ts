import type { Finding, NodeFailure, Verdict } from '../../rules/model/finding.ts'

/** What a verdict comes to: only what is new decides, an error before a violation. */
export function resultOf(violations: readonly Finding[], errors: readonly NodeFailure[]): Verdict['result'] {
  if (errors.some(isNew)) return 'error'
  return violations.some(isNew) ? 'fail' : 'pass'
}

const isNew = ({ state }: { readonly state: Finding['state'] }) => state === 'new'
