/**
 * Whether the operator lets this account (the owner of a repository) use the App. The App may be public: without the
 * list, anybody who installs it is served. Whole names, in any case: GitHub's logins ignore it. Webhooks ask before a job is stored, workers again before they act.
 */
export function isAllowedAccount(allowed: readonly string[] | undefined, account: string): boolean {
  const login = account.toLowerCase()
  return allowed === undefined || allowed.some(name => name.toLowerCase() === login)
}
