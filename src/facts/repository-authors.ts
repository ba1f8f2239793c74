import type { FleetNode, NodeSource } from '../fleet/model/fleet.ts'
import { refKey } from '../fleet/model/ref.ts'

/** Tenants by the repository and branch that the platform let them, and nobody else, deploy from; the fleet's own aside. */
export function repositoryAuthors(all: readonly FleetNode[]): Map<string, string> {
  const found = new Map<string, Set<string>>()
  const nodes = new Map(all.map(node => [node.key, node]))
  const roots = new Set(all.filter(node => node.parent === undefined).map(node => sourceKey(node.source)))
  for (const node of all) {
    const parent = nodes.get(node.parent ?? '')
    const isGiven = node.tenant !== undefined && parent !== undefined && parent.tenant === undefined
    if (!isGiven || node.source.url === '' || !node.source.id.startsWith('GitRepository/')) continue
    const key = sourceKey(node.source)
    if (!roots.has(key)) found.set(key, (found.get(key) ?? new Set()).add(node.tenant))
  }
  return new Map([...found].flatMap(([key, [tenant, other]]) => (other === undefined && tenant ? [[key, tenant]] : [])))
}

/** What a source follows, as text. */
export const sourceKey = ({ url, ref }: Pick<NodeSource, 'url' | 'ref'>): string => `${url} ${refKey(ref)}`
