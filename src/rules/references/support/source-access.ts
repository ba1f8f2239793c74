import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { namespaceLabels } from '../../../facts/namespace-labels.ts'
import { FLUX_KINDS } from '../../../flux/kinds.ts'
import type { Reference } from '../../../flux/references.ts'
import { admits, readSourceAcl } from '../../../flux/source/source-acl.ts'
import type { KubeObject } from '../../../kube/object.ts'

/** What the access control list of a source says to a namespace; `none`: there is no list, or no such source. */
export type AccessFrom = 'open' | 'closed' | 'unreadable' | 'none'

const GROUPS: ReadonlyMap<string, string> = new Map(
  FLUX_KINDS.filter(row => row.shared).map(({ kind, group }) => [kind, group]),
)

/** The kinds that may carry a list, as `<group>/<Kind>`. */
export const sharedKinds: readonly string[] = [...GROUPS].map(([kind, group]) => `${group}/${kind}`)

/** Whether a source of the same kind and name is in namespace `from`, so that the reference works without a namespace, too. */
export function hasNamesake(index: FleetIndex, cluster: string, from: string, { kind, name }: Reference): boolean {
  const group = GROUPS.get(kind)
  return group !== undefined && name !== '' && index.versionsOf(cluster, `${group}/${kind}`, from, name).length > 0
}

/**
 * Whether the source that is referred to lets in the namespace `from` (RFC-0002). The source's owner decides, so it is
 * read as the platform renders it, or the tenant of its namespace; of labels only what the platform writes is believed:
 * a tenant could label itself in.
 */
export function accessOf(index: FleetIndex, cluster: string, from: string, reference: Reference): AccessFrom {
  const group = GROUPS.get(reference.kind)
  const { namespace, name } = reference
  if (!group || namespace === null || name === '') return 'none'
  const source = ownersVersion(index, cluster, `${group}/${reference.kind}`, namespace, name)
  const acl = source && readSourceAcl(source)
  if (!acl) return 'none'
  if (acl === 'unreadable') return acl
  return admits(acl, namespaceLabels(index, cluster, from)) ? 'open' : 'closed'
}

function ownersVersion(
  index: FleetIndex,
  cluster: string,
  kind: string,
  namespace: string,
  name: string,
): KubeObject | undefined {
  const platforms = index.platformObject(cluster, kind, namespace, name)
  if (platforms) return platforms
  const versions = index.versionsOf(cluster, kind, namespace, name)
  return versions.findLast(({ node }) => node.tenant !== undefined && index.owns(cluster, node.tenant, namespace))
    ?.object
}
