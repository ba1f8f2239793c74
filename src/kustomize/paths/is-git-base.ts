/** As kustomize reads them, none is an address of a file: `git::`, any scheme but http, an account at a host, GitHub itself. */
const NEVER_A_FILE = /^(?:git::|(?!https?:)[a-z][a-z0-9+.-]*:\/\/|[\w.+-]+@[\w.-]+[:/]|(?:www\.)?github\.com[:/])/i

/** A repository of GitHub, where an address answers with a page and not with a file, except for what it serves itself. */
const ON_GITHUB = /^https:\/\/github\.com\/([\w.-]+)\/[\w.-]+(?:\/+([\w.-]+)?[\w./-]*)?(?:\?[\w.=&/-]*)?$/i
const SERVED = new Set(['raw', 'releases', 'files', 'assets', 'suites', 'archive'])

/**
 * Whether an address can only be that of a base in git, which Flux refuses with --no-remote-bases (fluxcd/pkg SecureBuild:
 * the clone lies outside of its file system). Any other http address kustomize asks for as a file first (fileloader.go),
 * and Flux lets it: only the server knows whether it is one.
 */
export function isGitBase(address: string): boolean {
  if (NEVER_A_FILE.test(address)) return true
  const [found, owner = '', first = ''] = ON_GITHUB.exec(address) ?? []
  return found !== undefined && owner.toLowerCase() !== 'user-attachments' && !isServedByGithub(first)
}

/** Whether GitHub may answer a path below a repository with a file, whatever the repository holds there. */
export function isServedByGithub(segment: string): boolean {
  return SERVED.has(segment.toLowerCase())
}
