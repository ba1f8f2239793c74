/** Whether a role or binding may be called so (IsPathSegmentName of k8s.io/apimachinery). */
export function isRbacName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !name.includes('%')
}
