import type { AskedRepository, RepositoryFact } from '../../src/fleet/access/read-access.ts'
import type { OpaqueSource, WantedSource } from '../../src/fleet/input.ts'
import type { TreeSnapshot } from '../../src/git/tree.ts'
import type { RepositoryName } from '../../src/github/octokit.ts'
import { normaliseUrl } from '../../src/kube/url.ts'
import type { PinnedRepository } from '../evaluation/protocol.ts'
import { findRepository } from './find-repository.ts'
import type { Installation, ReadableRepository } from './installation.ts'

/** A commit that stands in for what a branch holds now: the test merge of a pull request, or a pushed commit. */
export interface Pin {
  readonly url: string
  readonly branch: string
  readonly commit: string
  /** Its tree id, where it is known: saves a request. */
  readonly tree?: string
}

export interface SeenSource extends WantedSource {
  readonly commit: string
  readonly tree: TreeSnapshot
}

export type ReadSource = SeenSource | OpaqueSource

/** Logins of everybody who brought a change: its author and whoever pushed to its head. Undefined where GitHub does not say. */
export type People = () => Promise<readonly string[] | undefined>

/** True when `pin` stands for what `wanted` follows. */
export function isPinned(wanted: WantedSource, pin: Pin | undefined): pin is Pin {
  return pin !== undefined && wanted.url === pin.url && wanted.ref.branch === pin.branch && !followsOther(wanted)
}

function followsOther({ ref }: WantedSource): boolean {
  return ref.commit !== undefined || ref.tag !== undefined || ref.semver !== undefined || ref.name !== undefined
}

/** Whether a person may read the repository at an address, on the server of the fleet. */
export async function mayReadSource(
  installation: Pick<Installation, 'mayRead'>,
  fleet: string,
  url: string,
  login: string,
): Promise<boolean> {
  const name = nameAt(normaliseUrl(url), fleet)
  return name !== undefined && (await installation.mayRead(name, login))
}

/** Owner and name that an address on the fleet's server spells. */
function nameAt(url: string, fleet: string): RepositoryName | undefined {
  const [, server, owner, repo] = /^(https:\/\/[^/]+)\/([\w.-]{1,100})\/([\w.-]{1,100})$/.exec(url) ?? []
  return server && owner && repo && fleet.startsWith(`${server}/`) ? { owner, repo } : undefined
}

/**
 * Reads sources through one installation, each head once: within a job two questions about one branch get one answer.
 * What cannot be read is opaque, with the reason; a failing GitHub throws (and the job is tried again).
 */
export class SourceReader {
  readonly #installation: Installation
  readonly #only: string | undefined
  readonly #heads = new Map<string, Promise<string | undefined>>()

  /** `only`: address of the one repository that may be read; what others hold must not be shown where anybody may write. */
  constructor(installation: Installation, only?: string) {
    this.#installation = installation
    this.#only = only
  }

  /** The one door to the content of sources: it opens for what decideRead let through, which is what evaluations want. */
  async read(wanted: WantedSource, pin: Pin | undefined): Promise<ReadSource> {
    const { url, ref } = wanted
    if (this.#only !== undefined && url !== this.#only)
      return { url, ref, reason: 'the operator binds no cluster to this fleet' }
    const repository = await findRepository(this.#installation, { url })
    if (!repository) return { url, ref, reason: 'the App is not installed on this repository' }
    if (ref.semver !== undefined || ref.name !== undefined) {
      return { url, ref, reason: `${ref.semver !== undefined ? 'ref.semver' : 'ref.name'} is not followed yet` }
    }
    const pinned = isPinned(wanted, pin) ? pin : undefined
    const commit = pinned?.commit ?? (await this.head(repository, wanted))
    if (commit === undefined) return { url, ref, reason: 'the branch, tag or commit that it follows does not exist' }
    return { url, ref, commit, tree: await this.#installation.content(repository, commit, pinned?.tree) }
  }

  /**
   * What the decision about repositories needs, of each asked for alike, whether or not it exists. `fleet`: address of a
   * repository of the installation; what lies on another server is not read.
   */
  async facts(asked: readonly AskedRepository[], fleet: string, people?: People): Promise<RepositoryFact[]> {
    const facts: RepositoryFact[] = []
    for (const { url, people: counts } of asked) {
      const name = nameAt(url, fleet)
      const found = name && this.#only === undefined ? await this.#installation.lookUp(name) : undefined
      const isPublic = found?.visibility === 'public'
      const theirs = counts && !isPublic ? { people: name ? await this.#mayAllRead(name, people) : false } : {}
      facts.push({ url, public: isPublic, ...theirs })
    }
    return facts
  }

  async #mayAllRead(name: RepositoryName, people: People | undefined): Promise<boolean> {
    const logins = (await people?.()) ?? []
    for (const login of logins) if (!(await this.#installation.mayRead(name, login))) return false
    return logins.length > 0
  }

  /** Addresses that belong to another repository by now: of the same name, but with another id. */
  async foreign(pinned: readonly PinnedRepository[]): Promise<string[]> {
    const repositories = await this.#installation.repositories()
    const isForeign = ({ url, id }: PinnedRepository) => repositories.some(one => one.url === url && one.id !== id)
    return pinned.filter(isForeign).map(({ url }) => url)
  }

  /** Commit that a wanted source stands at now. */
  head(repository: ReadableRepository, wanted: WantedSource): Promise<string | undefined> {
    const key = JSON.stringify([repository.url, wanted.ref])
    const known = this.#heads.get(key)
    if (known) return known
    const head = this.#installation.head(repository, wanted.ref)
    this.#heads.set(key, head)
    return head
  }

  /** The same by address; undefined where the repository or the ref is not there. */
  async headOf(wanted: WantedSource): Promise<string | undefined> {
    const repository = await findRepository(this.#installation, { url: wanted.url })
    return repository && this.head(repository, wanted)
  }
}
