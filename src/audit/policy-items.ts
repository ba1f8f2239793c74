import { shown } from '../facts/shown.ts'
import type { FleetNode } from '../fleet/model/fleet.ts'
import { originAt } from '../kube/node.ts'
import { groupOf, idOf } from '../kube/object.ts'
import { policyEngines } from '../policy/registry/policy-engines.ts'
import { type AuditItem, place } from './audit-item.ts'
import { type AuditedCluster, isPlatforms } from './audited-cluster.ts'
import { fewNames } from './few-names.ts'

const KYVERNO = ['kyverno.io', 'policies.kyverno.io']
const GATEKEEPER = ['templates.gatekeeper.sh', 'constraints.gatekeeper.sh']
const KUBERNETES = ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding']

/**
 * Checks that tenant Kustomizations depend on the policies that apply to them, directly or through their parents.
 * Source: Flux's multi-tenancy example, "Reconciliation hierarchy".
 */
export function* policyItems({ nodes }: AuditedCluster): Iterable<AuditItem> {
  const byKey = new Map(nodes.map(node => [node.key, node]))
  const isEntry = ({ tenant, parent }: FleetNode) =>
    tenant !== undefined && parent !== undefined && byKey.get(parent)?.tenant === undefined
  const entries = nodes.filter(isEntry).map(node => ({ node, before: comesBefore(node, byKey) }))
  for (const policies of nodes) {
    if (!isPlatforms(policies) || !policies.objects.some(object => isPolicy(idOf(object)))) continue
    const early = entries.filter(({ before }) => !before.has(policies.key)).map(({ node }) => node)
    const who = `Kustomization ${shown(`${policies.namespace}/${policies.name}`)}`
    const first = early[0]
    yield {
      check: 'policies-first',
      subject: `${policies.namespace}/${policies.name}`,
      state: first ? 'weak' : 'ok',
      message: first
        ? `${named(early)} can be applied before the policies of ${who}`
        : `tenants are applied after the policies of ${who}`,
      why: 'on a new cluster or after a failure, tenant objects applied before the policies are not checked by them',
      fix: first ? `Add ${shown(policies.name)} to spec.dependsOn of the Kustomization that declares the tenants.` : '',
      ...(first ? { origin: place(originAt(first.kustomization.root, ['spec', 'dependsOn'])) } : {}),
    }
  }
}

/** The Kustomizations that are ready before a node is applied: what it and those above it depend on, and what that needs. */
function comesBefore(node: FleetNode, byKey: ReadonlyMap<string, FleetNode>): ReadonlySet<string> {
  const before = new Set<string>()
  const above = new Set<string>()
  const queue = [node.key]
  for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
    if (above.has(key)) continue
    above.add(key)
    const here = byKey.get(key)
    if (!here) continue
    // what brings an object has been applied before it; what is waited for has been brought by someone, too
    for (const needed of here.dependsOn) before.add(needed)
    if (here.parent !== undefined) before.add(here.parent)
    queue.push(...here.dependsOn, ...(here.parent === undefined ? [] : [here.parent]))
  }
  return before
}

function isPolicy({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  const group = groupOf(apiVersion)
  if (policyEngines.some(({ kinds }) => kinds.includes(`${group}/${kind}`))) return true
  if (group === 'admissionregistration.k8s.io') return KUBERNETES.includes(kind)
  return (KYVERNO.includes(group) && kind.endsWith('Policy')) || GATEKEEPER.includes(group)
}

function named(nodes: readonly FleetNode[]): string {
  return fewNames(nodes.map(({ namespace, name }) => shown(`${namespace}/${name}`)).sort())
}
