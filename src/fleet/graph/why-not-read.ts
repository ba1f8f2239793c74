import { admits, readSourceAcl } from '../../flux/source/source-acl.ts'
import type { Draft } from './draft.ts'
import type { NodeContext } from './node-context.ts'

/**
 * Another tenant's content is never rendered into a tenant's node unless its owner lets the namespace in: what is said
 * about it would show it. Under --no-cross-namespace-refs Flux refuses before it reads the source, so there is nothing to
 * render either.
 */
export function whyNotRead(
  context: NodeContext,
  draft: Pick<Draft, 'namespace'>,
  tenant: string | undefined,
  id: string,
): string | undefined {
  const namespace = id.split('/')[1] ?? ''
  if (tenant === undefined || namespace === draft.namespace) return undefined
  const owner = context.tenancy.owners.get(namespace)
  if (owner !== undefined && owner !== tenant && !mayBeOpen(context, id, draft.namespace)) {
    return "it belongs to another tenant's namespace"
  }
  return context.lockdown.noCrossNamespaceRefs ? 'Flux rejects sources of other namespaces on this cluster' : undefined
}

/** Whether a source lets a namespace in, or is not known yet. */
function mayBeOpen({ index, tenancy }: NodeContext, id: string, namespace: string): boolean {
  const source = index.find(id)
  if (source === undefined || source === 'bootstrap') return !index.complete && source === undefined
  const acl = readSourceAcl(source)
  return acl !== undefined && acl !== 'unreadable' && admits(acl, tenancy.labelsOf(namespace))
}
