import type { Subject } from '../../kube/rbac/binding.ts'
import { reachOf } from './subject-reach.ts'

/**
 * Whether a subject of a tenant's binding is one of Kubernetes' own groups (or the user without a name), other than the
 * accounts of the tenant's own namespaces.
 */
export function isPublicFor(subject: Subject, owns: (namespace: string) => boolean): boolean {
  const reach = reachOf(subject)
  if (reach.of === 'everybody') return true
  return subject.kind === 'Group' && reach.of === 'accounts' && !owns(reach.namespace)
}
