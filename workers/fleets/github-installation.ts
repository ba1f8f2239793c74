import { hash } from 'node:crypto'
import { BailiwickError } from '../../src/errors.ts'
import { canonicalRef } from '../../src/fleet/model/ref.ts'
import type { SourceRef } from '../../src/fleet/model/source-ref.ts'
import type { Octokit, RepositoryName } from '../../src/github/client/octokit.ts'
import { isDirectory } from '../../src/github/contents/is-directory.ts'
import { readCommit } from '../../src/github/contents/read-commit.ts'
import { readFile } from '../../src/github/contents/read-file.ts'
import { readRepository } from '../../src/github/contents/read-repository.ts'
import { readTree } from '../../src/github/contents/read-tree.ts'
import { listRepositories, type Repository } from '../../src/github/contents/repositories.ts'
import { readRole } from '../../src/github/people/permission.ts'
import { readHead } from '../../src/github/pulls/branch.ts'
import { introducedBy } from '../../src/github/pulls/introduced-by.ts'
import { normaliseUrl } from '../../src/kube/url.ts'
import type { DesignatedFleets } from '../context/designated-fleets.ts'
import { CLUSTERS, type Installation } from '../context/installation.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { readDesignation } from '../designation/read-designation.ts'
import { requiresCheck } from './requires-check.ts'

/** How long it is remembered where an address leads that no repository of the installation has. */
const LEADS_MS = 600_000

/** One installation as GitHub has it now: what nobody pushed to since is remembered, trees come from the store. */
export function githubInstallation(context: WorkerContext, id: number, octokit: Octokit): Installation {
  const { store, memory } = context
  const nameOf = (repository: ReadableRepository) => ({ owner: repository.owner, repo: repository.name })
  const trees = new Map<string, string>()
  const fleets = new Map<string, Promise<boolean>>()
  const defaultHeads = new Map<string, string>()
  const noted = new Map<string, string>()
  let repositories: Promise<readonly ReadableRepository[]> | undefined
  let designation: Promise<DesignatedFleets> | undefined
  const installation: Installation = {
    id,
    registry: context.registry,
    repositories: () => {
      repositories ??= listRepositories(octokit).then(list => list.map(readable))
      return repositories
    },
    isFleet: repository => {
      const at = defaultHeads.get(repository.url)
      const ask = () => isDirectory(octokit, nameOf(repository), CLUSTERS, at)
      const key = `${repository.url} ${at ?? ''}`
      const answer =
        fleets.get(key) ??
        (at ? memory.recallAt(repository, at, CLUSTERS, ask) : memory.recall(repository, CLUSTERS, ask))
      fleets.set(key, answer)
      return answer
    },
    designation: () => {
      designation ??= readDesignation(context, installation, octokit)
      return designation
    },
    file: (repository, path) =>
      memory.recall(repository, `file ${path}`, () => readFile(octokit, nameOf(repository), path)),
    noteHead: (repository, branch, commit, tree) => {
      noted.set(headKey(repository, { branch }), commit)
      if (tree !== undefined) trees.set(commit, tree)
      if (branch === repository.defaultBranch) defaultHeads.set(repository.url, commit)
    },
    head: async (repository, ref) => {
      const known = noted.get(headKey(repository, ref))
      if (known !== undefined) return known
      const question = `head ${JSON.stringify(ref)}`
      const head = await memory.recall(repository, question, () => readHead(octokit, nameOf(repository), ref))
      if (head) trees.set(head.commit, head.tree)
      return head?.commit
    },
    leadsTo: async name => {
      const ask = async () => (await readRepository(octokit, name))?.id ?? null
      const key = `${name.owner}/${name.repo}`.toLowerCase()
      return (await memory.recallAt({ id }, sinceNames(await installation.repositories()), key, ask)) ?? undefined
    },
    ...roleFacts(context, id, octokit),
    parent: (repository, commit) => firstParent(context, octokit, repository, commit),
    content: (repository, commit, known) => {
      const tree = known ?? trees.get(commit)
      return readTree(octokit, store, { ...nameOf(repository), commit, ...(tree ? { tree } : {}) })
    },
  }
  return installation
}

/** What GitHub says about a repository by its name, who may read or administer repositories, and what their rules require. */
function roleFacts(
  context: WorkerContext,
  id: number,
  octokit: Octokit,
): Pick<Installation, 'lookUp' | 'mayRead' | 'administers' | 'requiresCheck' | 'isAdopted'> {
  const administers = (name: RepositoryName, login: string) =>
    unlessRefused(async () => (await readRole(octokit, name, login)) === 'admin', false)
  return {
    lookUp: name => unlessRefused(() => readRepository(octokit, name), undefined),
    mayRead: (name, login) => mayRead(octokit, name, login),
    administers,
    requiresCheck: (repository, branch) =>
      unlessRefused(() => requiresCheck(context, id, octokit, repository, branch), false),
    isAdopted: async ({ repository, commit, file, url }, name) => {
      const place = { owner: repository.owner, repo: repository.name }
      const ask = () => introducedBy(octokit, place, { commit, file }, text => namesAddress(text, url))
      const asked = context.memory.recallAt(repository, commit, `declared ${file} ${url}`, ask)
      const logins = await unlessRefused(() => asked, [])
      for (const login of logins) if (!(await administers(name, login))) return false
      return logins.length > 0
    },
  }
}

const headKey = ({ url }: ReadableRepository, ref: SourceRef) => JSON.stringify([url, canonicalRef(ref)])

async function firstParent(
  { memory }: WorkerContext,
  octokit: Octokit,
  repository: ReadableRepository,
  commit: string,
): Promise<string | undefined> {
  const { owner, name: repo } = repository
  const ask = async () => (await readCommit(octokit, { owner, repo }, commit)).parents[0] ?? null
  return (await memory.recallAt(repository, commit, 'parent', ask)) ?? undefined
}

/** Until a repository gets another name, and not for long. */
function sinceNames(repositories: readonly ReadableRepository[]): string {
  const names = hash('sha256', repositories.map(({ id, url }) => `${id} ${url}`).join('\n'))
  return `names ${names} ${Math.floor(Date.now() / LEADS_MS)}`
}

/** Whether a text has an address of a repository in it, in any spelling. */
const namesAddress = (text: string, url: string) => text.split(/[\s"',]+/).some(word => normaliseUrl(word) === url)

async function mayRead(octokit: Octokit, name: RepositoryName, login: string): Promise<boolean> {
  return unlessRefused(async () => (await readRole(octokit, name, login)) !== 'none', false)
}

/** A repository that GitHub refuses (not selected, blocked, gone) is answered like one that is not there. */
async function unlessRefused<T>(ask: () => Promise<T>, refused: T): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof BailiwickError && error.code !== 'github-unavailable') return refused
    throw error
  }
}

function readable(repository: Repository): ReadableRepository {
  return {
    id: repository.id,
    owner: repository.owner,
    name: repository.repo,
    url: repository.url,
    defaultBranch: repository.defaultBranch,
    archived: repository.archived,
    createdAt: repository.createdAt,
    visibility: repository.visibility,
    pushedAt: repository.pushedAt,
  }
}
