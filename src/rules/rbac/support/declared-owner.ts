import type { RuleContext } from '../../model/rule.ts'

/** The tenant of a namespace where the platform says so, by a label or in the fleet's own file. */
export function declaredOwner({ index, config }: RuleContext, cluster: string, namespace: string): string | undefined {
  const owner = index.ownerOf(cluster, namespace)
  if (owner === undefined) return undefined
  return config.tenants.get(owner)?.namespaces.includes(namespace) ? owner : index.declaredOwnerOf(cluster, namespace)
}
