const PUBLIC = ['system:authenticated', 'system:unauthenticated', 'system:serviceaccounts', 'system:anonymous', '*']

/** Whether a subject stands for everybody, or for the accounts of every namespace. */
export function isPublic({ kind, name }: { readonly kind: string; readonly name: string }): boolean {
  return kind !== 'ServiceAccount' && PUBLIC.includes(name)
}
