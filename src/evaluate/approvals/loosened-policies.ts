import { shownObject } from '../../facts/shown.ts'
import type { Finding, RequiredApproval } from '../../rules/model/finding.ts'
import { imageUnverified } from '../../rules/policies/image-unverified.ts'
import { policyLoosened } from '../../rules/policies/policy-loosened.ts'

/** One required approval for each policy that a change of the platform loosens, unless the findings are waived. */
export function loosenedPolicies(findings: readonly Finding[]): RequiredApproval[] {
  return [...deniedBefore(findings), ...verifiedBefore(findings)]
}

/** Where the line of a policy is named, the policy changed and not the object. */
function verifiedBefore(findings: readonly Finding[]): RequiredApproval[] {
  const found = findings.filter(one => one.rule === imageUnverified.id && one.state === 'new' && one.policy)
  const byPolicy = Map.groupBy(found, ({ policy }) => shownObject(policy!.kind, policy!.namespace, policy!.name))
  return [...byPolicy].map(([policy, own]) => {
    const images = new Set(own.map(({ cluster, object, field }) => JSON.stringify([cluster, object, field]))).size
    const message = `${policy} no longer verifies ${images === 1 ? '1 image' : `${images} images`}`
    return { rule: imageUnverified.id, path: own[0]!.origin.file, message }
  })
}

function deniedBefore(findings: readonly Finding[]): RequiredApproval[] {
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
    const isKustomization = (own[0]!.policy ?? own[0]!.object).kind === 'Kustomization'
    const path = own[0]!.origin.file
    return {
      rule: policyLoosened.id,
      path,
      message: isKustomization
        ? `${policy} no longer waits for policies`
        : which === ''
          ? `${policy} changes, so that policies may deny less than before`
          : `${policy} denies less than before${which}`,
    }
  })
}
