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
import { readLayers, readRuleset } from '../../src/github/protection.ts'
import { normaliseUrl } from '../../src/kube/source-address.ts'
import { checkNameOf } from '../../src/verdict/check-names.ts'
import { evaluateProtection } from '../../src/verdict/evaluate-protection.ts'
import { readDesignation } from './designation.ts'
import { findRepository } from './source-reader.ts'
import {
  type Case,
  CLUSTERS,
  type DesignatedFleets,
  type Installation,
  type WorkerContext,
  type WritableCase,
  type Writer,
} from './worker-context.ts'

/**
 * What a job is about, by the repository that it names; undefined if the App may not read it. `octokit`: the reader, if
 * the caller has it already. Writes use another token, see openWriter.
 */
export async function openCase(
  context: WorkerContext,
  { installation: id, owner, repo }: RepositoryName & { readonly installation: number },
  attempt: Case['attempt'],
  octokit?: Octokit,
): Promise<Case | undefined> {
  const installation = githubInstallation(context, id, octokit ?? (await context.app.reader(id)))
  const repository = await findRepository(installation, { owner, repo })
  return repository && caseOf(context, attempt, installation, repository)
}

/** A repository of an installation, for a job. */
export async function caseOf(
  context: WorkerContext,
  attempt: Case['attempt'],
  installation: Installation,
  repository: Repository,
): Promise<Case> {
  const { owner, repo } = repository
  const app = await context.app.identity()
  return { context, attempt, app, installation, repository, octokit: installation.octokit, owner, repo }
}

/** The same, with the client that writes to it. */
export async function openWritable(...asked: Parameters<typeof openCase>): Promise<WritableCase | undefined> {
  const subject = await openCase(...asked)
  return subject && writable(subject)
}

/** A case with the client that writes to its repository. */
export async function writable(subject: Case): Promise<WritableCase> {
  const { context, installation, repository } = subject
  return { ...subject, writer: await openWriter(context, installation.id, repository) }
}

/**
 * Opens a repository for writing, with a token that is limited to it. Evaluations use another token without write access, so
 * the content of a change cannot cause a write to another repository. `url`: its address, where it is a fleet that
 * records what is done there.
 */
export async function openWriter(
  context: WorkerContext,
  installation: number,
  { id, owner, repo, url: fleet }: RepositoryName & { readonly id: number; readonly url?: string },
): Promise<Writer> {
  const [octokit, app] = await Promise.all([context.app.client(installation, [id]), context.app.identity()])
  return { context, installation, octokit, app, owner, repo, fleet }
}

/** Runs with a client that administers one repository and does nothing else. The trail of the fleet records what it does. */
export function administer<T>(
  { context, app, installation, repository }: Case,
  { id, owner, repo }: RepositoryName & { readonly id: number },
  run: (writer: Writer) => Promise<T>,
): Promise<T> {
  const place = { context, app, installation: installation.id, owner, repo, fleet: repository.url }
  return context.app.administer(installation.id, id, octokit => run({ ...place, octokit }))
}

/** How long the target of an address outside the installation is cached. */
const LEADS_MS = 600_000

/** One installation as GitHub has it now: facts are cached until the next push, trees come from the store. */
export function githubInstallation(context: WorkerContext, id: number, octokit: Octokit): Installation {
  const { store, memory } = context
  const trees = new Map<string, string>()
  const heads = new Map<string, Promise<string | undefined>>()
  let repositories: Promise<readonly Repository[]> | undefined
  let designation: Promise<DesignatedFleets> | undefined
  const installation: Installation = {
    id,
    octokit,
    registry: context.registry,
    repositories: () => {
      repositories ??= listRepositories(octokit)
      return repositories
    },
    isFleet: async repository => {
      const at = await heads.get(headKey(repository, { branch: repository.defaultBranch }))
      const ask = () => isDirectory({ ...repository, octokit }, CLUSTERS, at)
      return at ? memory.recallAt(repository, at, CLUSTERS, ask) : memory.recall(repository, CLUSTERS, ask)
    },
    designation: () => {
      designation ??= readDesignation(context, installation)
      return designation
    },
    file: (repository, path) =>
      memory.recall(repository, `file ${path}`, () => readFile({ ...repository, octokit }, path)),
    noteHead: (repository, branch, commit, tree) => {
      heads.set(headKey(repository, { branch }), Promise.resolve(commit))
      if (tree !== undefined) trees.set(commit, tree)
    },
    head: (repository, ref) => {
      const ask = async () => {
        const question = `head ${JSON.stringify(ref)}`
        const head = await memory.recall(repository, question, () => readHead({ ...repository, octokit }, ref))
        if (head) trees.set(head.commit, head.tree)
        return head?.commit
      }
      const key = headKey(repository, ref)
      const head = heads.get(key) ?? ask()
      heads.set(key, head)
      return head
    },
    leadsTo: async name => {
      const ask = async () => (await readRepository({ ...name, octokit }))?.id ?? null
      const key = `${name.owner}/${name.repo}`.toLowerCase()
      return (await memory.recallAt({ id }, sinceNames(await installation.repositories()), key, ask)) ?? undefined
    },
    ...roleFacts(context, id, octokit),
    parent: (repository, commit) => firstParent(context, octokit, repository, commit),
    content: (repository, commit, known) => {
      const tree = known ?? trees.get(commit)
      return readTree({ octokit, ...repository, commit, ...(tree ? { tree } : {}) }, store)
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
    unlessMissing(async () => (await readRole({ ...name, octokit }, login)) === 'admin', false)
  return {
    lookUp: name => unlessMissing(() => readRepository({ ...name, octokit }), undefined),
    mayRead: (name, login) =>
      unlessMissing(async () => (await readRole({ ...name, octokit }, login)) !== 'none', false),
    administers,
    requiresCheck: (repository, branch) =>
      unlessMissing(() => requiresCheck(context, { id, octokit }, repository, branch), false),
    isAdopted: async ({ repository, commit, file, url }, name) => {
      const ask = () => introducedBy({ ...repository, octokit }, { commit, file }, text => namesAddress(text, url))
      const asked = context.memory.recallAt(repository, commit, `declared ${file} ${url}`, ask)
      const logins = await unlessMissing(() => asked, [])
      for (const login of logins) if (!(await administers(name, login))) return false
      return logins.length > 0
    },
  }
}

const headKey = ({ url }: Repository, ref: SourceRef) => JSON.stringify([url, canonicalRef(ref)])

async function firstParent(
  { memory }: WorkerContext,
  octokit: Octokit,
  repository: Repository,
  commit: string,
): Promise<string | undefined> {
  const ask = async () => (await readCommit({ ...repository, octokit }, commit)).parents[0] ?? null
  return (await memory.recallAt(repository, commit, 'parent', ask)) ?? undefined
}

/** A cache key that changes when a repository gets another name, and after a while. */
function sinceNames(repositories: readonly Repository[]): string {
  const names = hash('sha256', repositories.map(({ id, url }) => `${id} ${url}`).join('\n'))
  return `names ${names} ${Math.floor(Date.now() / LEADS_MS)}`
}

/** Whether a text contains an address of a repository, in any spelling. */
const namesAddress = (text: string, url: string) => text.split(/[\s"',]+/).some(word => normaliseUrl(word) === url)

/** A repository that GitHub refuses (not selected, blocked, gone) counts as missing. */
async function unlessMissing<T>(ask: () => Promise<T>, refused: T): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof BailiwickError && error.code !== 'github-unavailable') return refused
    throw error
  }
}

/** Whether only commits that our App passed can reach a branch, by GitHub's rules as they are now. */
async function requiresCheck(
  { app }: WorkerContext,
  { id, octokit }: Pick<Installation, 'id' | 'octokit'>,
  repository: Repository,
  branch: string,
): Promise<boolean> {
  // GitHub shows bypass actors of a ruleset only to clients that may change it: this one reads that, and nothing else
  const readOne = async (ruleset: number) => readRuleset({ ...repository, octokit: await app.client(id) }, ruleset)
  const [identity, found] = await Promise.all([app.identity(), readLayers({ ...repository, octokit }, branch, readOne)])
  const known = { url: repository.url, branch, ...found, evaluated: [], namesakes: [] }
  return evaluateProtection(known, { name: checkNameOf(branch), app: identity.id }).state === 'real'
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
