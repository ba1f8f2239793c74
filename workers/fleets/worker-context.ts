import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import type { Registry } from '../../src/cluster/registry.ts'
import type { Config } from '../../src/config.ts'
import type { SourceRef } from '../../src/fleet/model/source-ref.ts'
import type { ObjectStore } from '../../src/git/object-store.ts'
import type { TreeSnapshot } from '../../src/git/tree.ts'
import type { App } from '../../src/github/client/app.ts'
import type { Octokit, OurRepository, RepositoryName } from '../../src/github/client/octokit.ts'
import type { NamedRepository, Repository } from '../../src/github/contents/repositories.ts'
import type { Designation, DesignationRecord } from '../../src/github/designate.ts'
import type { Log } from '../../src/process/log.ts'
import type { Metrics } from '../../src/receive/metrics.ts'
import type { Outbox } from '../../src/receive/outbox.ts'
import type { Attempt, Queue } from '../../src/receive/queue.ts'
import type { PageStore } from '../../src/surface/pages/page-store.ts'
import type { StatementStore, WorkStore } from '../../src/surface/pages/work-store.ts'
import type { Evaluator } from './evaluator.ts'

/** What all jobs share. It has no state of a job, so a crash loses nothing. */
export interface WorkerContext {
  readonly config: Config
  readonly app: App
  readonly queue: Queue
  readonly store: ObjectStore
  /** Artifacts of the registries that the operator allows. */
  readonly registry: Registry
  readonly evaluator: Pick<Evaluator, 'evaluate'>
  readonly memory: RepositoryMemory
  /** Where the designations of installations were found last. */
  readonly designations: DesignationMemory
  /** The operator's clusters.yaml; empty: evaluate only. */
  readonly bindings: readonly ClusterBinding[]
  /** The page store, and the public address of the pages; without an address checks link to none. */
  readonly pages: { readonly store: PageStore; readonly publicUrl: string | undefined }
  /** What is to be written on pull requests. */
  readonly statements: StatementStore
  /** Decisions that wait to be written to the trails of fleets; absent: none are kept. */
  readonly outbox?: Outbox | undefined
  /** What is approved for clusters that have a worker of their own. */
  readonly work: WorkStore
  readonly metrics: Metrics
  /** Rules that are switched off for this process. */
  readonly disabledRules: readonly string[]
  readonly log: Log
}

/** Where every fleet keeps its clusters, see fluxcd/flux2-multi-tenancy. */
export const CLUSTERS = 'clusters'

/** A file of a repository that names the address of another one. */
interface DeclaredPlace {
  readonly repository: Repository
  readonly commit: string
  readonly file: string
  readonly url: string
}

/** Reads the parts of a revision set through one installation, so that no other installation's rights are used. */
export interface Installation {
  readonly id: number
  /** The client of all its reads. */
  readonly octokit: Octokit
  /** Where artifacts are read, with the operator's credentials for what the platform declares. */
  readonly registry: Registry
  repositories(): Promise<readonly Repository[]>
  /** Whether the repository has a `clusters` directory on its default branch. */
  isFleet(repository: Repository): Promise<boolean>
  /** Which repositories evaluate others, read once per job: decided by designation, never by a repository's content. */
  designation(): Promise<DesignatedFleets>
  /** A file on the default branch; undefined if there is none. */
  file(repository: Repository, path: string): Promise<Uint8Array | undefined>
  /** The present commit of a ref; undefined if it does not exist or the repository is empty. */
  head(repository: Repository, ref: SourceRef): Promise<string | undefined>
  /** Notes the commit of a branch that the caller has just read, to save a request. */
  noteHead(repository: Repository, branch: string, commit: string, tree?: string): void
  /** The repository at an address, as GitHub has it now; undefined if there is none that the App may know of. */
  lookUp(name: RepositoryName): Promise<NamedRepository | undefined>
  /** GitHub's id of the repository to which a name leads, an earlier one too; remembered for some minutes. */
  leadsTo(name: RepositoryName): Promise<number | undefined>
  /** Whether a person may read a repository; false if there is none. */
  mayRead(name: RepositoryName, login: string): Promise<boolean>
  /** Whether a person administers a repository. */
  administers(name: RepositoryName, login: string): Promise<boolean>
  /** Whether GitHub's rules require our check on a branch, without a known bypass. */
  requiresCheck(repository: Repository, branch: string): Promise<boolean>
  /** Whether all whose merged pull requests wrote a repository's address into a file administer that repository. */
  isAdopted(declared: DeclaredPlace, name: RepositoryName): Promise<boolean>
  /** The first parent of a commit; undefined for the first one of the repository. */
  parent(repository: Repository, commit: string): Promise<string | undefined>
  /** `tree`: its tree id, where the caller knows it. */
  content(repository: Repository, commit: string, tree?: string): Promise<TreeSnapshot>
}

/** The part of an installation that reads the sources of a fleet. */
export type SourceInstallation = Pick<
  Installation,
  | 'registry'
  | 'repositories'
  | 'head'
  | 'lookUp'
  | 'leadsTo'
  | 'mayRead'
  | 'administers'
  | 'requiresCheck'
  | 'isAdopted'
  | 'parent'
  | 'content'
>

/** A fleet repository on the branch that clusters follow. */
export interface FleetPlace {
  readonly repository: Repository
  readonly branch: string
}

/** What a job is about: a repository as its installation reads it, with a token that can write nowhere. */
export interface Case extends OurRepository {
  readonly context: WorkerContext
  readonly attempt: Pick<Attempt, 'lastAttempt'>
  readonly installation: Installation
  readonly repository: Repository
}

/** The same, with the client that writes to it. */
export interface WritableCase extends Case {
  readonly writer: Writer
}

/** A repository that is changed, with a token that can write to no other one. */
export interface Writer extends OurRepository {
  readonly context: WorkerContext
  readonly installation: number
  /** Address of the fleet whose trail records each change; undefined: no fleet is affected. */
  readonly fleet: string | undefined
}

/** Which repositories of one installation evaluate others, as far as that is decided. */
export interface DesignatedFleets {
  readonly designation: Exclude<Designation, { readonly state: 'needs-candidates' }>
  /** The designated fleets, each on the branch that clusters follow; empty if nothing is decided. */
  readonly fleets: readonly FleetPlace[]
  /** The sealed record that decided; undefined if the operator did, or none is written yet. */
  readonly record: DesignationRecord | undefined
}

/** The time of the last push, in whole seconds: what was read some time after it is valid until the next one. */
interface Pushed {
  /** GitHub's id: after a rename or a deletion its address can be another repository's. */
  readonly id: number
  readonly url: string
  readonly defaultBranch: string
  /** ISO time; null for a repository without a push. */
  readonly pushedAt: string | null
}

/** Two pushes within a second have one time, and clocks differ: only what is older than this is remembered. */
const SETTLED_MS = 60_000
const KEPT = 20_000

/**
 * Facts about repositories, valid until the next push. An organization has hundreds of inactive ones, and each
 * evaluation asks about all of them: one listing then answers for all.
 */
export class RepositoryMemory {
  readonly #known = new Map<string, { readonly pushedAt: string; readonly value: unknown }>()
  readonly #noted = new Map<string, string>()

  /** The answer to `question` about a repository; `ask` runs if it was pushed to since, or only just. */
  async recall<T>({ id, url, defaultBranch, pushedAt }: Pushed, question: string, ask: () => Promise<T>): Promise<T> {
    const key = JSON.stringify([id, url, defaultBranch, question])
    const known = this.#known.get(key)
    if (known !== undefined && known.pushedAt === pushedAt) return known.value as T
    this.#known.delete(key)
    const asked = Date.now()
    const value = await ask()
    if (pushedAt !== null && asked - Date.parse(pushedAt) > SETTLED_MS) this.#known.set(key, { pushedAt, value })
    for (const oldest of this.#known.keys()) if (this.#known.size > KEPT) this.#known.delete(oldest)
    return value
  }

  /** The answer to `question` about one commit, which never changes. */
  async recallAt<T>({ id }: Pick<Pushed, 'id'>, commit: string, question: string, ask: () => Promise<T>): Promise<T> {
    const key = JSON.stringify([id, commit, question])
    const known = this.#known.get(key)
    if (known !== undefined) return known.value as T
    const value = await ask()
    this.#known.set(key, { pushedAt: '', value })
    for (const oldest of this.#known.keys()) if (this.#known.size > KEPT) this.#known.delete(oldest)
    return value
  }

  /** Whether this is another note than the last one under this name; notes it. */
  isNew(name: string, note: string): boolean {
    if (this.#noted.get(name) === note) return false
    this.#noted.delete(name)
    this.#noted.set(name, note)
    for (const oldest of this.#noted.keys()) if (this.#noted.size > KEPT) this.#noted.delete(oldest)
    return true
  }
}

/** The issue in which a record was found, or, without one, what else there was. */
type RememberedDesignation =
  | { readonly repository: number; readonly issue: number }
  | { readonly candidates: readonly number[] }

/** Another process may write a record at any time; the shared count of changes shows that sooner, if available. */
const MAX_AGE_MS = 600_000

/**
 * Where the record of each installation was found last, so that not every repository is searched again. It decides
 * nothing: an issue is read and verified each time.
 */
export class DesignationMemory {
  readonly #known = new Map<number, { readonly at: number; readonly changes: number; value: RememberedDesignation }>()

  /** `changes`: how often designations of the installation were changed, as every process counts it. */
  recall(installation: number, changes: number): RememberedDesignation | undefined {
    const known = this.#known.get(installation)
    return known && known.changes === changes && Date.now() - known.at < MAX_AGE_MS ? known.value : undefined
  }

  note(installation: number, changes: number, value: RememberedDesignation): void {
    this.#known.set(installation, { at: Date.now(), changes, value })
  }

  forget(installation: number): void {
    this.#known.delete(installation)
  }
}

/** The key under which processes count changes of an installation's designation. */
export const changesKey = (installation: number): string => `designation ${installation}`
