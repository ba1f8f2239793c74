import { shownObject } from '../../facts/shown.ts'
import type { Finding, RequiredApproval } from '../../rules/model/finding.ts'
import { policyLoosened } from '../../rules/policies/policy-loosened.ts'

/** One required approval for each policy that a change of the platform loosens, unless the finding is waived. */
export function loosenedPolicies(findings: readonly Finding[]): RequiredApproval[] {
  const found = findings.filter(
    ({ rule, state, level }) => rule === policyLoosened.id && state === 'new' && level === 'warning',
  )
  const byPolicy = Map.groupBy(found, one => {
    const { kind, namespace, name } = one.policy ?? one.object
    return shownObject(kind, namespace, name)
  })
  return [...byPolicy].map(([policy, own]) => {
    const objects = new Set(
      own.filter(one => one.policy).map(({ cluster, object }) => JSON.stringify([cluster, object])),
    ).size
    const which =
      objects === 0
        ? ''
        : `: ${objects === 1 ? '1 object that it denied passes' : `${objects} objects that it denied pass`}`
    const path = own[0]!.origin.file
    return { rule: policyLoosened.id, path, message: `${policy} denies less than before${which}` }
  })
}
