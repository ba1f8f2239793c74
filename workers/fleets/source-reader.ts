import { BailiwickError } from '../../src/base/errors.ts'
import type { RegistryHead } from '../../src/cluster/registry.ts'
import { FLEET_FILE } from '../../src/fleet/model/fleet-config.ts'
import type { OpaqueSource } from '../../src/fleet/model/input.ts'
import {
  type AskedRepository,
  type DeclarationPlace,
  isWider,
  type RepositoryFact,
} from '../../src/fleet/model/source-access.ts'
import type { RegistryRef, WantedSource } from '../../src/fleet/model/source-ref.ts'
import { openSnapshot, type TreeSnapshot } from '../../src/git/tree.ts'
import type { RepositoryName } from '../../src/github/client/octokit.ts'
import type { Repository } from '../../src/github/contents/repositories.ts'
import { normaliseUrl } from '../../src/kube/source-address.ts'
import type { EarlierSnapshot, PinnedRepository, RevisionSetSnapshot } from './protocol.ts'
import type { FleetPlace, Installation, SourceInstallation } from './worker-context.ts'

/** A commit that stands in for what a branch holds now: the test merge of a pull request, or a pushed commit. */
export interface Pin {
  readonly url: string
  readonly branch: string
  readonly commit: string
  /** Its tree id, if known: saves a request. */
  readonly tree?: string
}

interface SeenSource extends WantedSource {
  readonly commit: string
  readonly tree: TreeSnapshot
  readonly tag?: string
  readonly originRevision?: string
}

export type ReadSource = SeenSource | OpaqueSource

/** Logins of everyone who contributed to a change: its author and all who pushed to its head. Undefined if unknown. */
export type Contributors = () => Promise<readonly string[] | undefined>

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

/** Limit of names in content that could not be rendered that are looked up one by one. */
const MAX_HIDDEN = 100

/** Owner and name that an address on the fleet's server spells. */
export function nameAt(url: string, fleet: string): RepositoryName | undefined {
  const [, server, owner, repo] = /^(https:\/\/[^/]+)\/([\w.-]{1,100})\/([\w.-]{1,100})$/.exec(url) ?? []
  return server && owner && repo && fleet.startsWith(`${server}/`) ? { owner, repo } : undefined
}

/**
 * Reads sources through one installation, each head once: within a job one branch has one commit. What cannot be read
 * is opaque, with the reason. Throws if GitHub fails (and the job is retried).
 */
export class SourceReader {
  readonly #installation: SourceInstallation
  readonly #only: string | undefined
  readonly #heads = new Map<string, Promise<string | undefined>>()
  readonly #artifactHeads = new Map<string, Promise<RegistryHead | undefined>>()
  readonly #moved = new Map<string, Repository>()

  /** `only`: address of the one readable repository; content of others must not be shown where anyone may write. */
  constructor(installation: SourceInstallation, only?: string) {
    this.#installation = installation
    this.#only = only
  }

  /** The only access to the content of sources: for what decideRead allowed, which is what evaluations want. */
  async read(wanted: WantedSource, pin: Pin | undefined): Promise<ReadSource> {
    const { url, ref } = wanted
    if (this.#only !== undefined && url !== this.#only)
      return { url, ref, reason: 'the operator binds no cluster to this fleet' }
    if (ref.registry) return this.#artifact(wanted, ref.registry)
    const repository = await this.at(url)
    if (!repository) return { url, ref, reason: 'the App is not installed on this repository' }
    if (ref.semver !== undefined || ref.name !== undefined) {
      return { url, ref, reason: `${ref.semver !== undefined ? 'ref.semver' : 'ref.name'} is not supported` }
    }
    const pinned = isPinned({ url: repository.url, ref }, pin) ? pin : undefined
    const commit = pinned?.commit ?? (await this.head(repository, wanted))
    if (commit === undefined) return { url, ref, reason: 'the branch, tag or commit that it follows does not exist' }
    return { url, ref, commit, tree: await this.#installation.content(repository, commit, pinned?.tree) }
  }

  /** Hosts of registries that may be read. */
  get registries(): readonly string[] {
    return this.#installation.registry.hosts
  }

  /** An artifact; opaque if the registry does not return it, so that an outage affects no other source. */
  async #artifact(wanted: WantedSource, followed: RegistryRef): Promise<ReadSource> {
    const { url, ref } = wanted
    try {
      const head = await this.#artifactHead(wanted, followed)
      if (head === undefined)
        return { url, ref, reason: 'the artifact does not exist in the registry, or may not be read' }
      const { digest: commit, tag } = head
      const content = await this.#installation.registry.content(url, followed, commit)
      return { url, ref, commit, ...content, ...(tag === undefined ? {} : { tag }) }
    } catch (error) {
      if (!(error instanceof BailiwickError)) throw error
      return { url, ref, reason: error.message }
    }
  }

  #artifactHead({ url, ref }: WantedSource, followed: RegistryRef): Promise<RegistryHead | undefined> {
    const key = JSON.stringify([url, ref])
    const known = this.#artifactHeads.get(key) ?? this.#installation.registry.headOf(url, followed)
    this.#artifactHeads.set(key, known)
    return known
  }

  /**
   * The facts for the decision about repositories, read alike whether or not a repository exists. `fleet`: address of a
   * repository of the installation; repositories on another server are not read.
   */
  async facts(asked: readonly AskedRepository[], fleet: string, people?: Contributors): Promise<RepositoryFact[]> {
    const facts: RepositoryFact[] = []
    for (const { people: counts, ...about } of asked) {
      const { url, branch, declaredIn } = about
      const name = nameAt(url, fleet)
      if (branch !== undefined) {
        facts.push({ ...about, public: false, gated: await this.#requiresCheck(url, branch) })
        continue
      }
      if (declaredIn) {
        const adopted =
          name !== undefined && this.#only === undefined && (await this.#isAdopted(name, url, declaredIn, people))
        facts.push({ ...about, public: false, adopted })
        continue
      }
      const found = name && this.#only === undefined ? await this.#installation.lookUp(name) : undefined
      const isPublic = found?.visibility === 'public'
      const theirs = counts && !isPublic ? { people: name ? await this.#mayAllRead(name, people) : false } : {}
      facts.push({ url, public: isPublic, ...theirs })
    }
    return facts
  }

  async #requiresCheck(url: string, branch: string): Promise<boolean> {
    const repository = this.#only === undefined ? await this.at(url) : undefined
    return repository !== undefined && this.#installation.requiresCheck(repository, branch)
  }

  /** Whether all who declared a source administer its repository: contributors of that change or pull request. */
  async #isAdopted(
    name: RepositoryName,
    url: string,
    { repository, commit, file }: DeclarationPlace,
    people: Contributors | undefined,
  ): Promise<boolean> {
    if (commit !== '') {
      const place = await this.at(repository)
      return place !== undefined && this.#installation.isAdopted({ repository: place, commit, file, url }, name)
    }
    const logins = (await people?.()) ?? []
    for (const login of logins) if (!(await this.#installation.administers(name, login))) return false
    return logins.length > 0
  }

  async #mayAllRead(name: RepositoryName, people: Contributors | undefined): Promise<boolean> {
    const logins = (await people?.()) ?? []
    for (const login of logins) if (!(await this.#installation.mayRead(name, login))) return false
    return logins.length > 0
  }

  /** The repository to which an address leads: by its name, GitHub's redirect, or the id that the fleet pins. */
  async at(url: string): Promise<Repository | undefined> {
    return this.#moved.get(url) ?? findRepository(this.#installation, { url })
  }

  /**
   * The pinned addresses that now belong to another repository. An address that nothing answers at stands for the
   * pinned repository under its present name.
   */
  async foreign(pinned: readonly PinnedRepository[]): Promise<PinnedRepository[]> {
    const repositories = await this.#installation.repositories()
    const foreign: PinnedRepository[] = []
    for (const one of pinned) {
      const present = repositoryAt(repositories, one.url)?.id ?? (await idAt(this.#installation, one.url))
      const moved = present === undefined && repositories.find(({ id }) => id === one.id)
      if (moved) this.#moved.set(one.url, moved)
      if (present !== undefined && present !== one.id) foreign.push(one)
    }
    return foreign
  }

  /** Whether one of these names is an earlier one of the repository at `url`; true for too many names to look up. */
  async leadTo(names: readonly string[], url: string): Promise<boolean> {
    const exact = [...new Set(names)].filter(name => !name.includes('*'))
    if (exact.length > MAX_HIDDEN) return true
    for (const name of exact) if ((await this.at(name))?.url === url) return true
    return false
  }

  /**
   * Throws if one of these addresses was the changed repository's and is another one's now: the fleet means the changed
   * one, and Flux deploys the other.
   */
  async refuseNamesake({ url }: Pin, foreign: readonly PinnedRepository[]): Promise<void> {
    const changed = repositoryAt(await this.#installation.repositories(), url)
    if (!foreign.some(one => one.id === changed?.id)) return
    const what = 'The address under which the fleet pins this repository now belongs to another repository'
    throw new BailiwickError('source-unreadable', `${what}. Flux deploys from the other repository`, {
      fix: 'Ask a fleet admin to write the current address of this repository into the sources of the fleet. It also belongs into tenants[].repositories of .github/bailiwick.yaml.',
    })
  }

  /** The present commit of a wanted source. */
  head(repository: Repository, wanted: WantedSource): Promise<string | undefined> {
    const key = JSON.stringify([repository.url, wanted.ref])
    const known = this.#heads.get(key)
    if (known) return known
    const head = this.#installation.head(repository, wanted.ref)
    this.#heads.set(key, head)
    return head
  }

  /** The first parent of a commit of a repository, with its content; undefined for the first commit. */
  async parent(repository: Repository, commit: string): Promise<EarlierSnapshot | undefined> {
    const parent = await this.#installation.parent(repository, commit)
    return parent === undefined
      ? undefined
      : { commit: parent, tree: await this.#installation.content(repository, parent) }
  }

  /** The present commit, by address; undefined if the repository or the ref does not exist. */
  async headOf(wanted: WantedSource): Promise<string | undefined> {
    if (wanted.ref.registry) {
      const read = await this.#artifact(wanted, wanted.ref.registry)
      return 'commit' in read ? read.commit : undefined
    }
    const repository = await this.at(wanted.url)
    return repository && this.head(repository, wanted)
  }
}

type Names = Pick<Installation, 'repositories' | 'leadsTo'>

/**
 * The repository of an installation at a normalized address, also an earlier one (GitHub redirects it, so Flux still
 * deploys it), or by the name in GitHub's events; undefined if the App may not read it.
 */
export async function findRepository(
  installation: Names,
  wanted: { readonly url: string } | RepositoryName,
): Promise<Repository | undefined> {
  const repositories = await installation.repositories()
  if (!('url' in wanted)) return repositories.find(one => one.owner === wanted.owner && one.repo === wanted.repo)
  const present = repositoryAt(repositories, wanted.url)
  if (present) return present
  const id = await idAt(installation, wanted.url)
  return repositories.find(one => one.id === id)
}

/** The repository that has this address now; GitHub names ignore case, on every server. */
function repositoryAt(repositories: readonly Repository[], url: string): Repository | undefined {
  return (
    repositories.find(one => one.url === url) ?? repositories.find(one => one.url.toLowerCase() === url.toLowerCase())
  )
}

/** GitHub's id of the repository at an address; undefined if nothing answers, or it is on another server. */
async function idAt(installation: Names, url: string): Promise<number | undefined> {
  const [first] = await installation.repositories()
  const named = nameInAddress(url)
  if (!first || !named || !first.url.startsWith(`${named.server}/`)) return undefined
  return installation.leadsTo({ owner: named.owner, repo: named.repo })
}

/** Where a repository is: its name, and the server, `https://github.com`. */
interface NamedRepository extends RepositoryName {
  readonly server: string
}

/** The repository that a normalized address of a GitHub server names; undefined for every other address. */
export function nameInAddress(url: string): NamedRepository | undefined {
  const [, server, owner, repo] = /^(https?:\/\/[^/]+)\/([\w.-]{1,100})\/([\w.-]{1,100})$/.exec(url) ?? []
  return server && owner && repo ? { server, owner, repo } : undefined
}

/**
 * The repositories at `urls` that fewer people can see than the one at `place`: their text is not published there. One
 * that GitHub does not list counts as private.
 */
export async function narrowerSources(
  installation: Pick<Installation, 'repositories'>,
  place: string,
  urls: readonly string[],
): Promise<readonly string[]> {
  const repositories = new Map((await installation.repositories()).map(one => [one.url, one.visibility]))
  const here = repositories.get(place) ?? 'public'
  return [...new Set(urls)].filter(url => url !== place && isWider(here, repositories.get(url) ?? 'private')).sort()
}

/** The same snapshot, with these sources as not visible. */
export function withoutSources(snapshot: RevisionSetSnapshot, urls: ReadonlySet<string>): RevisionSetSnapshot {
  if (urls.size === 0) return snapshot
  const left = snapshot.sources.filter(({ url }) => urls.has(url))
  const reason = 'fewer people can see it than this repository'
  return {
    ...snapshot,
    sources: snapshot.sources.filter(({ url }) => !urls.has(url)),
    opaque: [...snapshot.opaque, ...left.map(({ url, ref }) => ({ url, ref, reason }))],
  }
}

/** The fleet's own file on its branch, and the commit that it is of; `text` undefined: there is none. */
export async function readFleetFileText(
  installation: Installation,
  { repository, branch }: FleetPlace,
): Promise<{ readonly commit: string; readonly text: string | undefined }> {
  const commit = await installation.head(repository, { branch })
  if (commit === undefined) throw new BailiwickError('git-missing', `${repository.url} has no ${branch}`)
  const tree = openSnapshot(await installation.content(repository, commit))
  if (tree.entry(FLEET_FILE)?.type !== 'file') return { commit, text: undefined }
  return { commit, text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(tree.read(FLEET_FILE)) }
}
