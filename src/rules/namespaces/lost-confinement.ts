import type { Fleet, FleetNode, NodeSource } from '../../fleet/fleet.ts'
import { refKey } from '../../fleet/ref.ts'
import { TENANT_LABEL } from '../../fleet/tenancy.ts'
import type { FleetIndex } from '../fleet-index.ts'
import type { Breach } from '../rule.ts'
import { shown, shownIdentity, shownObject } from '../shown.ts'

/**
 * What acted for a tenant before a change and would act for the platform after it: a lost label, or a Kustomization moved
 * out of the tenant's namespace, would free the tenant of every rule without a word.
 */
export function* lostConfinement(before: Fleet, fleet: Fleet, index: FleetIndex): Iterable<Breach> {
  const old = new Map(before.nodes.map(node => [node.key, node]))
  const authors = authorsIn(before, old)
  for (const node of fleet.nodes) {
    if (node.tenant !== undefined || node.parent === undefined) continue
    const was = old.get(node.key)
    const known = new Set(was && keysOf(was))
    const before = was?.tenant ?? keysOf(node).flatMap(key => (known.has(key) ? [] : (authors.get(key) ?? [])))[0]
    if (before !== undefined) yield breach(node, before, was?.tenant !== undefined, index)
  }
}

/** Tenants by the repository and branch that the platform let them, and nobody else, deploy from; the fleet's own aside. */
function authorsIn(fleet: Fleet, nodes: ReadonlyMap<string, FleetNode>): Map<string, string> {
  const found = new Map<string, Set<string>>()
  const roots = new Set(fleet.nodes.filter(node => node.parent === undefined).map(node => keyOf(node.source)))
  for (const node of fleet.nodes) {
    const parent = nodes.get(node.parent ?? '')
    const isGiven = node.tenant !== undefined && parent !== undefined && parent.tenant === undefined
    if (!isGiven || node.source.url === '' || !node.source.id.startsWith('GitRepository/')) continue
    const key = keyOf(node.source)
    if (!roots.has(key)) found.set(key, (found.get(key) ?? new Set()).add(node.tenant))
  }
  return new Map([...found].flatMap(([key, [tenant, other]]) => (other === undefined && tenant ? [[key, tenant]] : [])))
}

const keyOf = ({ url, ref }: Pick<NodeSource, 'url' | 'ref'>) => `${url} ${refKey(ref)}`

/** What a node follows, and what that includes. */
const keysOf = ({ source }: FleetNode): string[] => [source, ...(source.includes ?? [])].map(keyOf)

function breach(node: FleetNode, tenant: string, stayed: boolean, index: FleetIndex): Breach {
  const label = stayed ? index.platformObject(node.cluster, '/Namespace', '', node.namespace) : undefined
  const who = shownObject('Kustomization', node.namespace, node.name)
  const what = stayed ? 'it acted for' : 'what it follows belonged to'
  return {
    node,
    object: label ?? node.kustomization,
    path: label ? TENANT_LABEL : ['spec', 'sourceRef'],
    value: `unconfined ${node.namespace}/${node.name} ${tenant}`,
    message: `${who} would be the platform's, applied by ${shownIdentity(node.identity)}: before this change ${what} tenant ${shown(tenant)}, and nothing would confine it any more. Allowed is a Kustomization in a namespace that the label toolkit.fluxcd.io/tenant gives to the tenant. Flux itself would let it through.`,
    fix: `Keep the label toolkit.fluxcd.io/tenant: ${shown(tenant)} on the namespace of the Kustomization, or take the tenant away in a change of its own.`,
  }
}
