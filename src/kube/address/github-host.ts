/**
 * Names under which GitHub serves the same repositories as under github.com: www and redirect lead there over HTTP, ssh
 * takes SSH on port 443 (https://docs.github.com/en/authentication/troubleshooting-ssh/using-ssh-over-the-https-port).
 */
const NAMES: ReadonlySet<string> = new Set(['github.com', 'www.github.com', 'redirect.github.com', 'ssh.github.com'])

/** `github.com` for each of its names, in lower case; undefined for another host. */
export function gitHubHost(host: string): 'github.com' | undefined {
  return NAMES.has(host) ? 'github.com' : undefined
}
