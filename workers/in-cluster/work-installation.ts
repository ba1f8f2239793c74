import type { ClusterWork } from '../../src/channel/cluster-work.ts'
import { refKey } from '../../src/fleet/model/ref.ts'
import type { ObjectStore } from '../../src/git/object-store.ts'
import type { Octokit } from '../../src/github/client/octokit.ts'
import { readTree } from '../../src/github/contents/read-tree.ts'
import type { Registry } from '../../src/oci/registry.ts'
import type { SourceInstallation } from '../context/installation.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'

interface WorkSources {
  readonly store: ObjectStore
  readonly registry: Registry
  /** A client that reads the content of one repository. */
  readonly octokit: (repository: number) => Octokit
}

/**
 * The sources of one revision set, as an evaluation asks for them: where refs stand is what the web process evaluated, content
 * is read from GitHub and registries by commit and digest. What the work does not name does not exist here.
 */
export function workInstallation(work: ClusterWork, { store, registry, octokit }: WorkSources): SourceInstallation {
  const repositories = work.repositories.map(
    (one): ReadableRepository => ({ ...one, pushedAt: one.pushedAt === '' ? null : one.pushedAt }),
  )
  const heads = new Map(work.heads.map(({ url, ref, commit }) => [`${url} ${refKey(ref)}`, commit]))
  const parents = new Map(work.parents.map(({ repository, commit, parent }) => [`${repository} ${commit}`, parent]))
  const names = new Map(work.names.map(({ owner, repo, id }) => [`${owner}/${repo}`.toLowerCase(), id]))
  const artifacts = new Map(work.artifacts.map(({ url, ref, ...head }) => [`${url} ${refKey(ref)}`, head]))
  const idOf = (owner: string, repo: string) =>
    names.get(`${owner}/${repo}`.toLowerCase()) ??
    repositories.find(one => `${one.owner}/${one.name}`.toLowerCase() === `${owner}/${repo}`.toLowerCase())?.id
  return {
    registry: {
      ...registry,
      headOf: async (url, followed) => artifacts.get(`${url} ${refKey({ registry: followed })}`),
    },
    repositories: async () => repositories,
    head: async ({ url }, ref) => heads.get(`${url} ${refKey(ref)}`),
    lookUp: async ({ owner, repo }) => {
      const found = repositories.find(({ id }) => id === idOf(owner, repo))
      if (!found) return undefined
      const { id, url, visibility } = found
      return { id, owner: found.owner, repo: found.name, url, visibility }
    },
    leadsTo: async ({ owner, repo }) => idOf(owner, repo),
    // people count for pull requests, which are not evaluated here
    mayRead: async () => false,
    administers: async () => false,
    requiresCheck: async () => false,
    isAdopted: async ({ repository: { id }, commit, file, url }) =>
      work.adopted.some(one => one.repository === id && one.commit === commit && one.file === file && one.url === url),
    parent: async ({ id }, commit) => parents.get(`${id} ${commit}`),
    content: ({ id, owner, name: repo }, commit, tree) =>
      readTree(octokit(id), store, { owner, repo, commit, ...(tree === undefined ? {} : { tree }) }),
  }
}
