import type { SourceRef } from '../../src/fleet/model/source-ref.ts'
import type { TreeSnapshot } from '../../src/git/tree.ts'
import type { RepositoryName } from '../../src/github/client/octokit.ts'
import type { NamedRepository } from '../../src/github/contents/read-repository.ts'
import type { Registry } from '../../src/oci/registry.ts'
import type { DesignatedFleets } from './designated-fleets.ts'
import type { ReadableRepository } from './readable-repository.ts'

/** Where every fleet keeps its clusters, see fluxcd/flux2-multi-tenancy. */
export const CLUSTERS = 'clusters'

/** A file of a repository that names the address of another one. */
interface DeclaredPlace {
  readonly repository: ReadableRepository
  readonly commit: string
  readonly file: string
  readonly url: string
}

/** The parts of a revision set: asked of one installation, so that nobody reads a repository through someone else's rights. */
export interface Installation {
  readonly id: number
  /** Where artifacts are read, with the operator's credentials for what the platform declares. */
  readonly registry: Registry
  repositories(): Promise<readonly ReadableRepository[]>
  /** Whether the repository has a `clusters` directory on its default branch. */
  isFleet(repository: ReadableRepository): Promise<boolean>
  /** Which repositories evaluate others, asked once per job: decided by designation, never by what a repository holds. */
  designation(): Promise<DesignatedFleets>
  /** A file on the default branch; undefined where there is none. */
  file(repository: ReadableRepository, path: string): Promise<Uint8Array | undefined>
  /** Commit that a ref stands at now; undefined where it does not exist or the repository is empty. */
  head(repository: ReadableRepository, ref: SourceRef): Promise<string | undefined>
  /** Takes note of where a branch stands now, as the caller has just read it: spares requests. */
  noteHead(repository: ReadableRepository, branch: string, commit: string, tree?: string): void
  /** What an address leads to, asked of GitHub now; undefined where there is nothing that the App may know of. */
  lookUp(name: RepositoryName): Promise<NamedRepository | undefined>
  /** GitHub's id of the repository to which a name leads, an earlier one too; remembered for some minutes. */
  leadsTo(name: RepositoryName): Promise<number | undefined>
  /** Whether a person may read a repository; false as well where there is none. */
  mayRead(name: RepositoryName, login: string): Promise<boolean>
  /** Whether a person administers a repository. */
  administers(name: RepositoryName, login: string): Promise<boolean>
  /** Whether GitHub's rules require our check on a branch, and nobody is known to get past them. */
  requiresCheck(repository: ReadableRepository, branch: string): Promise<boolean>
  /** Whether everybody whose merged pull request brought the address of a repository into a file administers that repository. */
  isAdopted(declared: DeclaredPlace, name: RepositoryName): Promise<boolean>
  /** The first parent of a commit; undefined for the first one of the repository. */
  parent(repository: ReadableRepository, commit: string): Promise<string | undefined>
  /** `tree`: its tree id, where the caller knows it. */
  content(repository: ReadableRepository, commit: string, tree?: string): Promise<TreeSnapshot>
}

/** What reading the sources of a fleet asks of an installation. */
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
