import type { FleetNode } from '../../fleet/fleet.ts'
import type { Breach, Rule, RuleContext } from '../rule.ts'
import { shown } from '../shown.ts'

const FIX = 'Correct the name in .github/bailiwick.yaml, or remove the entry.'

/** A limit for a tenant that there is not limits nobody. */
export const configUnused: Rule = {
  id: 'config-unused',
  severity: 'low',
  level: 'warning',
  title: "The fleet's own file names tenants and clusters that there are",
  why: 'A misspelt tenant or cluster in `.github/bailiwick.yaml` limits nobody, and nobody notices.',
  docs: 'Name tenants as `bailiwick check -o json` lists them, and clusters as the directories of `clusters`.',
  *checkRepository({ isFleet, nodes: [root] }, context) {
    if (isFleet && root) yield* unused(root, context)
  },
}

function* unused(root: FleetNode, { config, index }: RuleContext): Iterable<Breach> {
  const known = new Set(index.clusters())
  const isTenant = (name: string) => [...known].some(cluster => index.namespacesOf(cluster, name).length > 0)
  for (const { name, clusters = [], origin } of config.tenants.values()) {
    if (!origin) continue
    const at = { node: root, object: root.kustomization, path: [], origin, fix: FIX }
    if (!isTenant(name)) {
      yield { ...at, value: `tenant ${name}`, message: `No cluster of the fleet has a tenant ${shown(name)}.` }
    }
    for (const cluster of clusters) {
      if (known.has(cluster)) continue
      yield {
        ...at,
        value: `tenant ${name} cluster ${cluster}`,
        message: `Tenant ${shown(name)} may be on cluster ${shown(cluster)}, which the fleet has not.`,
      }
    }
  }
}
