import type { Fleet, NotSeen } from '../../fleet/model/fleet.ts'

/** Nodes of which no complete build was found: what they restrict is not known, and no rule can hold it against a change. */
export function unknownNodes({ nodes }: Fleet): NotSeen[] {
  return nodes
    .filter(({ unknown }) => unknown)
    .map(({ cluster, namespace, name }) => ({
      source: `Kustomization/${namespace}/${name}`,
      url: '',
      reason: `it does not build on cluster ${cluster}, nor did it in any earlier commit that was looked at: which tenants, limits and controller settings it brings is not known`,
      what: 'facts' as const,
    }))
}
