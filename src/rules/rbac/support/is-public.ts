import type { BoundSubject } from '../../../kube/rbac/binding.ts'

const PUBLIC = ['system:authenticated', 'system:unauthenticated', 'system:serviceaccounts', 'system:anonymous', '*']

/** Whether a subject stands for everybody, or for the accounts of every namespace. */
export function isPublic({ kind, name }: BoundSubject): boolean {
  return kind !== 'ServiceAccount' && PUBLIC.includes(name)
}
