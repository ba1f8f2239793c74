/** The address of the server that a repository is on; github.com for an address without one. */
export function repositoryHost(url: string): string {
  return /^https:\/\/[\w.-]+(?::\d{1,5})?(?=\/)/.exec(url)?.[0] ?? 'https://github.com'
}
