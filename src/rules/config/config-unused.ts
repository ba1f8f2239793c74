import type { FleetIndex } from '../../facts/fleet-index.ts'
import { quoted } from '../../facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { capsuleTenantOf } from '../../fleet/tenancy/capsule.ts'
import { TENANT_LABEL } from '../../fleet/tenancy/tenancy.ts'
import { KUSTOMIZATION } from '../../flux/kinds.ts'
import { stringAt } from '../../kube/node.ts'
import { codeWord, message, untyped } from '../../message/message.ts'
import { removedWarning } from '../../message/removed.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'

const FIX = message`Correct the name in ${codeWord('.github/bailiwick.yaml')}, or remove the entry.`

/** A limit for a tenant that there is not limits nobody. */
export const configUnused: Rule = {
  id: 'config-unused',
  severity: 'low',
  level: 'warning',
  title: 'Unknown tenant or cluster, or removed rule, in the fleet configuration',
  why: 'A misspelled tenant or cluster in `.github/bailiwick.yaml` has no effect, so its setting does not apply.',
  docs: 'Use the tenant names that `bailiwick check -o json` lists, and the directory names in `clusters`.',
  *checkRepository({ isFleet, nodes: [root] }, context) {
    if (isFleet && root) yield* unused(root, context)
  },
}

/** Whether a cluster has anything of a tenant that is declared to be the platform: its label, or a namespace of it. */
function isShown(index: FleetIndex, cluster: string, name: string, namespaces: readonly string[]): boolean {
  const all = index.renderedAnywhere(cluster, '/Namespace').filter(({ node }) => node.tenant === undefined)
  const isLabelled = ({ object }: (typeof all)[number]) =>
    stringAt(object.root, TENANT_LABEL) === name || capsuleTenantOf(object) === name
  const isApplied = (namespace: string) => index.platformRendered(cluster, KUSTOMIZATION, namespace).length > 0
  return all.some(isLabelled) || [name, ...namespaces].some(isApplied)
}

function* unused(root: FleetNode, { config, index }: RuleContext): Iterable<Violation> {
  for (const { id, key, origin } of index.proposed().namedRules) {
    const warning = removedWarning(`rule ${id}`)
    if (warning === undefined) continue
    yield {
      ...{ node: root, object: root.kustomization, path: [], origin, value: `rule ${key} ${id}` },
      message: message`${quoted('value', key)} has no effect. The ${untyped(warning)} Allowed: rules of ${codeWord('docs/rules.md')}.`,
      fix: message`Remove the entry.`,
    }
  }
  const known = new Set(index.clusters())
  const isTenant = (name: string) => [...known].some(cluster => index.namespacesOf(cluster, name).length > 0)
  const isPlatform = (name: string, namespaces: readonly string[]) =>
    [...known].some(cluster => isShown(index, cluster, name, namespaces))
  for (const { name, platform, namespaces, clusters = [], origin } of config.tenants.values()) {
    // an entry that the change takes away is unused for this verdict only
    if (!origin || !index.proposed().tenants.has(name)) continue
    const at = { node: root, object: root.kustomization, path: [], origin, fix: FIX }
    if (platform ? !isPlatform(name, namespaces) : !isTenant(name)) {
      yield {
        ...at,
        value: `tenant ${name}`,
        message: message`Tenant ${quoted('object', name)} is on none of the fleet's clusters, so its settings have no effect. Allowed: tenants that the fleet declares.`,
      }
    }
    for (const cluster of clusters) {
      if (known.has(cluster)) continue
      yield {
        ...at,
        value: `tenant ${name} cluster ${cluster}`,
        message: message`Tenant ${quoted('object', name)} lists cluster ${quoted('value', cluster)}, which the fleet does not have. Allowed: the fleet's clusters.`,
      }
    }
  }
}
