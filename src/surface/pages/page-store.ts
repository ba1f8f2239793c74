import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { withoutLogins } from '../../base/visible.ts'
import type { Log } from '../../process/log.ts'
import type { ClusterPage } from '../../report/cluster-page.ts'
import type { CheckPage } from '../../report/page/check-page.ts'
import type { FleetPage } from '../../report/page/fleet-page.ts'
import type { FleetPulls } from '../../report/page/fleet-pulls.ts'
import type { PageEntry } from '../../report/page/home-page.ts'
import { checkIdOf, checkPath, clusterPath } from './page-address.ts'
import { openTtlStore, type TtlStore } from './ttl-store.ts'

/** Version of the stored form: a newer program does not read pages of an older one. */
const FORM = 6
/** Size limit of one stored page; larger ones are not kept. */
const MAX_BYTES = 2 * 1024 * 1024
const MAX_FLEET_BYTES = 8 * 1024 * 1024
const MAX_TEXT = 64 * 1024 * 1024
const MAX_LISTED = 300
/** The minimum of zlib. */
const MIN_CHUNK = 64

/** A week: longer than most pull requests stay open, and Re-evaluate renews the page. */
export const PAGE_LIMITS = { ttlMs: 7 * 86_400_000, maxBytes: 256 * 1024 * 1024 }

type Page = CheckPage | ClusterPage | FleetPage

/** Stores the content of pages for a while: one per check of a commit, fleet, and cluster of a repository. */
export class PageStore {
  readonly #store: TtlStore
  readonly #opened = new OpenedPages()

  constructor(store: TtlStore) {
    this.#store = store
  }

  /** Returns false for a page that is too large to be kept. */
  async keep(page: Page): Promise<boolean> {
    const bytes = await packed(page)
    if (!bytes || bytes.length > (page.kind === 'fleet' ? MAX_FLEET_BYTES : MAX_BYTES)) return false
    await this.#store.put(keyOf(page), bytes, withoutLogins(JSON.stringify(entryOf(page))))
    return true
  }

  /** `check`: as checkIdOf gives it. */
  async check(owner: string, repo: string, headSha: string, check: string): Promise<CheckPage | undefined> {
    return (await this.#read(checkKey({ owner, repo }, headSha, check))) as CheckPage | undefined
  }

  async fleet(owner: string, repo: string): Promise<FleetPage | undefined> {
    return (await this.#read(fleetKey({ owner, repo }))) as FleetPage | undefined
  }

  async cluster(owner: string, repo: string, cluster: string): Promise<ClusterPage | undefined> {
    return (await this.#read(clusterKey({ owner, repo }, cluster))) as ClusterPage | undefined
  }

  /** The open pull requests of a fleet; undefined if none were stored. */
  async pulls(owner: string, repo: string): Promise<FleetPulls | undefined> {
    return (await this.#read(pullsKey({ owner, repo }))) as FleetPulls | undefined
  }

  async keepPulls(pulls: FleetPulls): Promise<void> {
    await this.#put(pullsKey(pulls), pulls)
  }

  /** The fleets of an installation that have a list of pull requests. */
  async pullLists(installation: number): Promise<readonly PullList[]> {
    return ((await this.#read(`pull-lists ${FORM} ${installation}`)) as readonly PullList[] | undefined) ?? []
  }

  async keepPullLists(installation: number, lists: readonly PullList[]): Promise<void> {
    await this.#put(`pull-lists ${FORM} ${installation}`, lists)
  }

  /** The stored pages, newest first. */
  async list(): Promise<readonly PageEntry[]> {
    const notes = await this.#store.notes(MAX_LISTED)
    return notes.filter(({ key }) => key.startsWith(`${FORM} `)).map(({ note }) => JSON.parse(note))
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  /** The size is bounded, because callers limit the rows. */
  async #put(key: string, value: unknown): Promise<void> {
    const bytes = await packed(value)
    if (!bytes) throw new Error(`${key} is too large to be stored`)
    await this.#store.put(key, bytes)
  }

  async #read(key: string): Promise<unknown> {
    const bytes = await this.#store.get(key)
    if (!bytes) return undefined
    return this.#opened.open(key, bytes, async () => {
      // gzip ends in the length of the text; in one piece it is read several times as fast as in many
      const chunkSize = Math.min(Math.max(bytes.readUInt32LE(bytes.length - 4), MIN_CHUNK), MAX_TEXT)
      const text = await promisify(gunzip)(bytes, { chunkSize, maxOutputLength: MAX_TEXT })
      return { value: JSON.parse(text.toString('utf8')), size: text.length }
    })
  }
}

/** A fleet that has a list of pull requests. */
interface PullList extends Name {
  readonly url: string
}

/** Undefined for a text that is too long to be read. */
async function packed(value: unknown): Promise<Buffer | undefined> {
  const text = Buffer.from(withoutLogins(JSON.stringify(value)))
  return text.length > MAX_TEXT ? undefined : promisify(gzip)(text)
}

type Name = Pick<Page, 'owner' | 'repo'>

/** GitHub names ignore case. */
const nameOf = ({ owner, repo }: Name) => `${owner}/${repo}`.toLowerCase()
const fleetKey = (name: Name) => `${FORM} fleet ${nameOf(name)}`
/** Not a page: lists of pages leave it out. */
const pullsKey = (name: Name) => `pulls ${FORM} ${nameOf(name)}`
const checkKey = (name: Name, sha: string, check: string) => `${FORM} check ${nameOf(name)} ${sha} ${check}`

const clusterKey = (name: Name, cluster: string) => `${FORM} cluster ${nameOf(name)} ${cluster}`

function keyOf(page: Page): string {
  if (page.kind === 'cluster') return clusterKey(page, page.cluster)
  return page.kind === 'check' ? checkKey(page, page.headSha, checkIdOf(page.check)) : fleetKey(page)
}

function entryOf(page: Page): PageEntry {
  const { kind, owner, repo, at, repositoryId, visibility } = page
  const known = { ...(repositoryId === undefined ? {} : { repositoryId }), ...(visibility ? { visibility } : {}) }
  const place = { kind, owner, repo, at, ...known }
  if (page.kind === 'fleet') return place
  if (page.kind === 'cluster') return { ...place, path: clusterPath(owner, repo, page.cluster), title: page.cluster }
  const { headSha: sha, check, title, conclusion } = page
  const about = subjectOf(page).slice(0, 200)
  const path = checkPath({ owner, repo, sha, check })
  return {
    ...place,
    sha,
    path,
    check: check.slice(0, 200),
    title: title.slice(0, 200),
    ...(about === '' ? {} : { about }),
    conclusion,
  }
}

function subjectOf({ about, pull, commit }: CheckPage): string {
  if (pull) return `#${pull.number} ${pull.title}`.trim()
  if (!commit) return ''
  return about === 'merge-group' ? `merge group into ${commit.branch}` : `branch ${commit.branch}`
}

/** Opens the page store: on Redis, shared by all processes, or in this process, like the queue. */
export function openPages({ redisUrl }: { readonly redisUrl: string | undefined }, log: Log): PageStore {
  return new PageStore(openTtlStore({ ...PAGE_LIMITS, redisUrl, name: 'pages', log }))
}

interface Opened {
  readonly bytes: Buffer
  readonly value: unknown
  readonly size: number
}

/** Text of all values together. */
const MAX_SIZE = 64 * 1024 * 1024

/**
 * Parsed values of a store, by key, while the stored bytes are the same, so that the page of a large fleet is not
 * parsed at each view. Holds what is stored, not what a person may see of it.
 */
export class OpenedPages {
  /** The one that was used last is at the end. */
  readonly #opened = new Map<string, Opened>()
  #size = 0

  /** The value of these bytes, opened now unless it was opened before. `size`: bytes of its text. */
  async open<T>(
    key: string,
    bytes: Buffer,
    open: () => Promise<{ readonly value: T; readonly size: number }>,
  ): Promise<T> {
    const known = this.#opened.get(key)
    this.#drop(key)
    // compares all bytes: a digest in the store could belong to others
    const { value, size } = known?.bytes.equals(bytes) ? known : await open()
    this.#drop(key) // another view may have opened it meanwhile
    this.#opened.set(key, { bytes, value, size })
    this.#size += size
    for (const oldest of this.#opened.keys()) {
      if (this.#size <= MAX_SIZE) break
      this.#drop(oldest)
    }
    return value as T
  }

  #drop(key: string): void {
    this.#size -= this.#opened.get(key)?.size ?? 0
    this.#opened.delete(key)
  }
}
