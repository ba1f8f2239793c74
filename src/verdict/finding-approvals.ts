import { shownObject } from '../fleet/facts/shown.ts'
import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import type { Finding, RequiredApproval } from '../rules/model/finding.ts'
import { imageUnverified, policyLoosened } from '../rules/policies/policy-loosened.ts'
import { chartContentChange, chartNotRendered } from '../rules/sources/charts.ts'
import { leftOutOf } from './evaluated.ts'

const OF_CHARTS = [chartNotRendered.id, chartContentChange.id]

/** What passes only with an approval because of what rules found. */
export function approvalsOfFindings(findings: readonly Finding[], head: Fleet, base: Fleet): RequiredApproval[] {
  const isAsked = head.config.unrenderedCharts === 'approve'
  return [
    ...loosenedPolicies(findings),
    ...(isAsked ? changedCharts(findings) : []),
    ...repairedNodes(findings, head, base),
  ]
}

/** One for each changed file that decides what HelmReleases create, unless it is waived or a violation. */
function changedCharts(findings: readonly Finding[]): RequiredApproval[] {
  const found = findings.filter(one => OF_CHARTS.includes(one.rule) && one.state === 'new' && one.level === 'warning')
  const byPlace = Map.groupBy(found, ({ origin }) => `${origin.repository} ${origin.file}`)
  return [...byPlace.values()].map(([{ rule, object, origin } = found[0]!]) => ({
    rule,
    path: origin.file,
    message: `${origin.file} changes the chart, version or values of ${shownObject(object.kind, object.namespace, object.name)}, and charts are not rendered`,
  }))
}

/** One required approval for each policy that a change of the platform loosens, unless the findings are waived. */
function loosenedPolicies(findings: readonly Finding[]): RequiredApproval[] {
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
          ? `${policy} changes, so that policies may deny more or less than before`
          : `${policy} denies less than before${which}`,
    }
  })
}

/**
 * Existing violations of what Flux refuses in the base, or of what hangs below it, and would apply after the change. They
 * existed in git only: whether they were ever applied is not known.
 */
function repairedNodes(findings: readonly Finding[], head: Fleet, base: Fleet): RequiredApproval[] {
  const [now, before] = [new Map(refusedIn(head)), new Map(refusedIn(base))]
  if (before.size === 0) return []
  const found = findings.filter(
    ({ node, state, level }) => state === 'standing' && level === 'violation' && before.has(node) && !now.has(node),
  )
  const byCause = Map.groupBy(found, ({ node }) => before.get(node)!)
  return [...byCause].map(([{ namespace, name }, own]) => {
    const [{ rule, origin }] = own as [Finding]
    const causes = new Set(own.map(({ cause, fingerprint }) => cause ?? fingerprint)).size
    const what = causes === 1 ? '1 existing violation that stands' : `${causes} existing violations that stand`
    const message = `${shownObject('Kustomization', namespace, name)} builds again, so Flux may apply ${what} in it or below it for the first time`
    return { rule, path: origin.file, message }
  })
}

/** Each node that Flux refuses or that hangs below one, with the first of them. Parents come before their children. */
function* refusedIn({ nodes }: Fleet): Iterable<[string, FleetNode]> {
  const refused = new Map<string, FleetNode>()
  for (const node of nodes) {
    const above = node.parent === undefined ? undefined : refused.get(node.parent)
    const first = above ?? (leftOutOf(node).some(({ isFatal }) => isFatal) ? node : undefined)
    if (first === undefined) continue
    refused.set(node.key, first)
    yield [node.key, first]
  }
}
