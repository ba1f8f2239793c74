import { hash } from 'node:crypto'
import { BailiwickError } from '../../src/base/errors.ts'
import { canonicalRef, type SourceRef } from '../../src/fleet/model/source-ref.ts'
import { introducedBy, readHead } from '../../src/github/branches.ts'
import type { Octokit, RepositoryName } from '../../src/github/client/octokit.ts'
import { readCommit } from '../../src/github/contents/commits.ts'
import { readTree } from '../../src/github/contents/read-tree.ts'
import {
  isDirectory,
  listRepositories,
  type Repository,
  readFile,
  readRepository,
} from '../../src/github/contents/repositories.ts'
import { readRole } from '../../src/github/people.ts'
import { readBranchProtection, readBranchRules, readRuleset } from '../../src/github/protection.ts'
import { normaliseUrl } from '../../src/kube/source-address.ts'
import { checkNameOf } from '../../src/verdict/check-names.ts'
import { evaluateGate, type ProtectionLayer } from '../../src/verdict/evaluate-gate.ts'
import { readDesignation } from './designation.ts'
import { findRepository } from './source-reader.ts'
import {
  CLUSTERS,
  type DesignatedFleets,
  type Installation,
  type OpenedRepository,
  type ReadableRepository,
  type WorkerContext,
} from './worker-context.ts'

/**
 * The repository that a job is about, as its installation reads it; undefined if the App may not read it. `octokit`:
 * the reader, if the caller has it already. Writes use another token, see openPlace.
 */
export async function openRepository(
  context: WorkerContext,
  { installation: id, owner, repo }: RepositoryName & { readonly installation: number },
  octokit?: Octokit,
): Promise<OpenedRepository | undefined> {
  const reader = octokit ?? (await context.app.reader(id))
  const installation = githubInstallation(context, id, reader)
  const repository = await findRepository(installation, { owner, repo })
  return repository && { installation, repository, octokit: reader }
}

/** How long the target of an address outside the installation is cached. */
const LEADS_MS = 600_000

/** One installation as GitHub has it now: facts are cached until the next push, trees come from the store. */
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

/** What GitHub knows of a repository, who may read or administer repositories, and what their rules require. */
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

/** A cache key that changes when a repository gets another name, and after a while. */
function sinceNames(repositories: readonly ReadableRepository[]): string {
  const names = hash('sha256', repositories.map(({ id, url }) => `${id} ${url}`).join('\n'))
  return `names ${names} ${Math.floor(Date.now() / LEADS_MS)}`
}

/** Whether a text contains an address of a repository, in any spelling. */
const namesAddress = (text: string, url: string) => text.split(/[\s"',]+/).some(word => normaliseUrl(word) === url)

async function mayRead(octokit: Octokit, name: RepositoryName, login: string): Promise<boolean> {
  return unlessRefused(async () => (await readRole(octokit, name, login)) !== 'none', false)
}

/** A repository that GitHub refuses (not selected, blocked, gone) counts as missing. */
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

/** Whether only commits that our App passed can reach a branch, by GitHub's rules as they are now. */
async function requiresCheck(
  { app }: WorkerContext,
  installation: number,
  octokit: Octokit,
  { url, owner, name: repo }: ReadableRepository,
  branch: string,
): Promise<boolean> {
  const [identity, rules, { layer, hidden }] = await Promise.all([
    app.identity(),
    readBranchRules(octokit, { owner, repo }, branch),
    readBranchProtection(octokit, { owner, repo }, branch),
  ])
  const layers: ProtectionLayer[] = layer ? [layer] : []
  // GitHub shows bypass actors of a ruleset only to clients that may change it: this one reads that, and nothing else
  const rulesets = rules.length > 0 ? await app.client(installation) : undefined
  for (const { ruleset: id, ...one } of rules) {
    const bypass = rulesets && (await readRuleset(rulesets, { owner, repo }, id))?.bypass
    layers.push({ ...one, kind: 'ruleset', name: `#${id}`, bypass })
  }
  const known = { url, branch, layers, hidden, evaluated: [], namesakes: [] }
  return evaluateGate(known, { name: checkNameOf(branch), app: identity.id }).state === 'real'
}

/** The requests of an evaluation to an installation, with their answers: enough to evaluate again without them. */
export class InstallationRecord {
  /** By address of the repository and ref. */
  readonly heads = new Map<string, { readonly repository: number; url: string; ref: SourceRef; commit: string }>()
  readonly artifacts = new Map<string, { readonly url: string; ref: SourceRef; digest: string; tag?: string }>()
  readonly parents = new Map<string, { readonly repository: number; commit: string; parent: string }>()
  /** Only where the answer is yes. */
  readonly adopted = new Map<string, { readonly repository: number; commit: string; file: string; url: string }>()
  readonly names = new Map<string, { readonly owner: string; repo: string; id: number }>()
}

/** Wraps an installation and records the answers that an evaluation depends on, the last one of each question. */
export function recordedInstallation(installation: Installation, record: InstallationRecord): Installation {
  const { registry } = installation
  return {
    ...installation,
    registry: {
      ...registry,
      headOf: async (url, followed) => {
        const head = await registry.headOf(url, followed)
        const ref = { registry: followed }
        if (head !== undefined) record.artifacts.set(JSON.stringify([url, ref]), { url, ref, ...head })
        return head
      },
    },
    head: async (repository, ref) => {
      const commit = await installation.head(repository, ref)
      const { id, url } = repository
      const key = JSON.stringify([url, ref])
      if (commit === undefined) record.heads.delete(key)
      else record.heads.set(key, { repository: id, url, ref, commit })
      return commit
    },
    leadsTo: async name => {
      const id = await installation.leadsTo(name)
      const key = `${name.owner}/${name.repo}`.toLowerCase()
      if (id === undefined) record.names.delete(key)
      else record.names.set(key, { ...name, id })
      return id
    },
    isAdopted: async (declared, name) => {
      const isAdopted = await installation.isAdopted(declared, name)
      const place = { ...declared, repository: declared.repository.id }
      if (isAdopted) record.adopted.set(JSON.stringify(place), place)
      return isAdopted
    },
    parent: async (repository, commit) => {
      const parent = await installation.parent(repository, commit)
      if (parent !== undefined) record.parents.set(commit, { repository: repository.id, commit, parent })
      return parent
    },
  }
}
