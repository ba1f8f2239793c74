import type { FleetNode, NodeSource } from '../model/fleet.ts'
import { refKey } from '../model/ref.ts'
import type { Sources } from '../sources/sources.ts'
import type { Delegated } from './delegated.ts'
import type { Tenancy } from './tenancy.ts'

/** Tenants by the source object that is theirs, and by the repository that only they deploy from. */
export type TenantRepositories = ReadonlyMap<string, string>

/**
 * What is written by tenants: a source in a namespace that the platform labelled as a tenant's, and the repository of a
 * Kustomization that the platform put there, unless several tenants share it. What a tenant itself follows says nothing:
 * naming the platform's repository would make it theirs.
 */
export function tenantRepositories(
  nodes: readonly FleetNode[],
  tenancy: Tenancy,
  sources: Sources,
  delegated: Delegated,
): TenantRepositories {
  const found = new Map<string, Set<string>>()
  const add = (key: string | undefined, tenant: string) => {
    if (key !== undefined) found.set(key, (found.get(key) ?? new Set()).add(tenant))
  }
  const own = new Set(nodes.flatMap(node => (node.tenant === undefined ? [node.key] : [])))
  for (const { key, source, namespace, parent } of nodes) {
    const holder = tenancy.givenTo(source.id.split('/')[1] ?? '')
    if (holder !== undefined) add(source.id, holder)
    const tenant = tenancy.givenTo(namespace) ?? delegated.nodes.get(key)
    if (tenant !== undefined && parent !== undefined && own.has(parent)) add(keyOf(source, sources), tenant)
  }
  return new Map([...found].flatMap(([key, [tenant, other]]) => (other === undefined && tenant ? [[key, tenant]] : [])))
}

/** The tenant who writes what a source brings, as far as that is known. */
export function authorOf(
  repositories: TenantRepositories,
  source: Pick<NodeSource, 'id' | 'url' | 'ref'>,
  sources: Sources,
): string | undefined {
  const key = keyOf(source, sources)
  return repositories.get(source.id) ?? (key === undefined ? undefined : repositories.get(key))
}

/** Whoever writes to a repository writes to each of its branches; of the fleet's own only the tenant's branch is theirs. */
function keyOf({ id, url, ref }: Pick<NodeSource, 'id' | 'url' | 'ref'>, { own }: Sources): string | undefined {
  const isGit = id.startsWith('GitRepository/') || (id.startsWith('OCIRepository/') && url.startsWith('https://'))
  if (url === '' || !isGit) return undefined
  if (url !== own.url) return url
  return refKey(ref) === refKey(own.ref) ? undefined : `${url} ${refKey(ref)}`
}
