import type { Origin } from '../../../origin.ts'
import type { PolicyRuleName } from '../../../policy/engine.ts'
import type { FindingPolicy } from '../../model/finding.ts'

/** The policy that a finding is about, as the verdict lists it. */
export function findingPolicy(
  { policy, rule, origin }: PolicyRuleName & { readonly origin: Origin },
  action: FindingPolicy['action'],
  isUnchanged: boolean,
): FindingPolicy {
  const { kind, namespace, name } = policy
  const { repository, file, line } = origin
  return {
    kind,
    namespace,
    name,
    rule,
    action,
    origin: { repository, file, line },
    ...(isUnchanged ? { isUnchanged } : {}),
  }
}
