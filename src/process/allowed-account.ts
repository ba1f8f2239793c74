/**
 * Whether the operator allows this account (the owner of a repository) to use the App; without a list, every account
 * that installs the App may. Names are compared whole and without case, as GitHub does. Checked before a job is stored,
 * and again before a worker acts.
 */
export function isAllowedAccount(allowed: readonly string[] | undefined, account: string): boolean {
  const login = account.toLowerCase()
  return allowed === undefined || allowed.some(name => name.toLowerCase() === login)
}
