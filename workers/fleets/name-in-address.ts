import type { RepositoryName } from '../../src/github/client/octokit.ts'

/** Where a repository is: its name, and the server, `https://github.com`. */
interface NamedRepository extends RepositoryName {
  readonly server: string
}

/** The repository that a normalized address of a GitHub server names; undefined for every other address. */
export function nameInAddress(url: string): NamedRepository | undefined {
  const [, server, owner, repo] = /^(https?:\/\/[^/]+)\/([\w.-]{1,100})\/([\w.-]{1,100})$/.exec(url) ?? []
  return server && owner && repo ? { server, owner, repo } : undefined
}
