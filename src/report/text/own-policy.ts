import type { FindingPolicy } from '../../rules/model/finding.ts'

/** The policy of a finding as an audience may see it; its name and file may contain names of other tenants. */
export function ownPolicy(policy: FindingPolicy, hide: (text: string) => string): FindingPolicy {
  const { namespace, name, rule, origin } = policy
  return {
    ...policy,
    ...{ namespace: hide(namespace), name: hide(name), rule: hide(rule) },
    origin: { ...origin, repository: hide(origin.repository), file: hide(origin.file) },
  }
}
