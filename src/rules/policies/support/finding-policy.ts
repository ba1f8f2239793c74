import type { Origin } from '../../../origin.ts'
import type { PolicyRuleName } from '../../../policy/admission/admission-request.ts'
import type { FindingPolicy } from '../../model/finding.ts'

/** The policy of a finding in the form that the verdict lists. */
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
