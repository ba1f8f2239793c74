import { isNamespaceName, isSubdomain } from '../names.ts'
import type { UserInfo } from './request.ts'

const PREFIX = 'system:serviceaccount:'
/** Its members may do everything; nobody is it by impersonation of an account. */
export const MASTERS = 'system:masters'

/** Namespace and name of a service account's user name; undefined for a plain user (also for `system:serviceaccount:a:b:c`). */
export function accountOf(user: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!user.startsWith(PREFIX)) return undefined
  const [namespace = '', name = '', ...others] = user.slice(PREFIX.length).split(':')
  return others.length === 0 && isNamespaceName(namespace) && isSubdomain(name) ? { namespace, name } : undefined
}

/** The user name of a service account. */
export function userOfAccount(namespace: string, name: string): string {
  return `${PREFIX}${namespace}:${name}`
}

/** The groups that the API server gives to a user whom it authenticated or lets someone impersonate without groups. */
function groupsOf(user: string): string[] {
  if (user === 'system:anonymous') return ['system:unauthenticated']
  const account = accountOf(user)
  const own = account ? ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`] : []
  return [...own, 'system:authenticated']
}

/** A user with the groups that follow from the name, and `more`. */
export function userInfo(user: string, more: readonly string[] = []): UserInfo {
  return { name: user, groups: [...new Set([...groupsOf(user), ...more])] }
}
