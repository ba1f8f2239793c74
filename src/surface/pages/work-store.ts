import { hash, randomUUID } from 'node:crypto'
import type { ApplyResults } from '../../cluster/channel/apply-results.ts'
import type { ClusterWork } from '../../cluster/channel/cluster-work.ts'
import type { TestMerge } from '../../github/test-merge.ts'
import type { Log } from '../../process/log.ts'
import type { OfferedFix } from '../../verdict/suggestions.ts'
import { getJson, openTtlStore, putJson, type TtlStore } from './ttl-store.ts'

/** Work for the worker of a cluster, and the installation of its sources, which is not sent to the worker. */
interface OfferedWork {
  readonly installation: number
  readonly work: ClusterWork
}

interface StoredResults {
  /** Identifies this report among all of the cluster. */
  readonly tag: string
  readonly results: ApplyResults
}

/** A report that is not kept: `tag` is that of the report that stays, if there is one. */
interface Refused {
  readonly refused: 'older' | 'overtaken'
  readonly tag?: string
}

/** Longer than any resync, which stores it again. */
export const WORK_LIMITS = { ttlMs: 2 * 86_400_000, maxBytes: 256 * 1024 * 1024 }

/** Stores the approved work of each cluster that has a worker of its own, and that worker's last report. */
export class WorkStore {
  readonly #store: TtlStore

  constructor(store: TtlStore) {
    this.#store = store
  }

  offer(cluster: string, offered: OfferedWork): Promise<void> {
    return putJson(this.#store, `work ${cluster}`, offered)
  }

  offered(cluster: string): Promise<OfferedWork | undefined> {
    return getJson(this.#store, `work ${cluster}`)
  }

  /**
   * Stores a report in place of the one that `before` names (undefined: none), if it is about the revision set that is
   * offered now. Refuses a report that was sent before the last one was accepted, or is about another revision set. The
   * caller must prevent concurrent reports of the cluster.
   */
  async report(
    cluster: string,
    results: ApplyResults,
    before: string | undefined,
  ): Promise<{ readonly tag: string } | Refused> {
    const last = await getJson<StoredResults>(this.#store, `results ${cluster}`)
    const known = last === undefined ? {} : { tag: last.tag }
    const offered = await this.offered(cluster)
    if (offered?.work.revisionSet !== results.revisionSet) return { refused: 'overtaken', ...known }
    if (last?.tag !== before) return { refused: 'older', ...known }
    const stored: StoredResults = { tag: randomUUID(), results }
    await putJson(this.#store, `results ${cluster}`, stored)
    return { tag: stored.tag }
  }

  /** The last report of a cluster's worker. */
  async reported(cluster: string): Promise<ApplyResults | undefined> {
    return (await getJson<StoredResults>(this.#store, `results ${cluster}`))?.results
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

/** Opens the work store for the workers of clusters: on Redis, or in this process, like the queue. */
export function openWorkStore({ redisUrl }: { readonly redisUrl: string | undefined }, log: Log): WorkStore {
  return new WorkStore(openTtlStore({ ...WORK_LIMITS, redisUrl, name: 'work', log }))
}

/** The comment and the suggestions for a pull request. */
export interface Statement {
  readonly repositoryId: number
  /** The head that it is about. */
  readonly headSha: string
  /** Markdown of our one comment; absent: there should be none. */
  readonly body?: string
  readonly fixes: readonly OfferedFix[]
}

/** What a pull request got, for which merge. */
interface NotedVerdict {
  readonly merge: TestMerge
  readonly print: string
}

/** A fleet admin lets every pull request of a fleet pass for a while. */
interface Pause {
  readonly by: string
  readonly reason: string
  /** ISO time. */
  readonly until: string
}

interface PausedFleet {
  readonly repository: { readonly id: number }
  readonly branch: string
}

interface Place {
  readonly owner: string
  readonly repo: string
  readonly pull: number
}

/** Longer than comments ever wait to be posted. If it has expired, the pull request is evaluated again. */
export const STATEMENT_LIMITS = { ttlMs: 86_400_000, maxBytes: 64 * 1024 * 1024 }

/**
 * Stores the last comment and suggestions for each pull request, between the job that evaluates it and the job that
 * posts them, and which fleets are paused.
 */
export class StatementStore {
  readonly #store: TtlStore

  constructor(store: TtlStore) {
    this.#store = store
  }

  keep(place: Place, statement: Statement): Promise<void> {
    return putJson(this.#store, keyOf(place), statement)
  }

  of(place: Place): Promise<Statement | undefined> {
    return getJson(this.#store, keyOf(place))
  }

  /** Notes the verdict of a pull request; without one, what was noted before does not count. */
  async noteVerdict(place: Place, noted: NotedVerdict | undefined): Promise<void> {
    if (noted) await putJson(this.#store, `verdict ${keyOf(place)}`, noted)
    else await this.#store.delete(`verdict ${keyOf(place)}`)
  }

  verdictOf(place: Place): Promise<NotedVerdict | undefined> {
    return getJson(this.#store, `verdict ${keyOf(place)}`)
  }

  /** Pauses a fleet until a time; without a pause it blocks again. A pause that is lost blocks, too. */
  async setPause(fleet: PausedFleet, pause?: Pause): Promise<void> {
    if (pause) await putJson(this.#store, pauseKey(fleet), pause)
    else await this.#store.delete(pauseKey(fleet))
  }

  async pauseOf(fleet: PausedFleet): Promise<Pause | undefined> {
    const pause = await getJson<Pause>(this.#store, pauseKey(fleet))
    return pause && Date.parse(pause.until) > Date.now() ? pause : undefined
  }

  /** Notes our comment on a pull request, once it has this text. */
  noteComment(place: Place, id: number, body: string): Promise<void> {
    return this.#store.put(`comment ${keyOf(place)}`, Buffer.from(`${id} ${hash('sha256', body)}`))
  }

  /** Our comment on a pull request, if it was noted with another text. */
  async commentToChange(place: Place, body: string): Promise<number | undefined> {
    const [id, text] = (await this.#store.get(`comment ${keyOf(place)}`))?.toString().split(' ') ?? []
    return id === undefined || text === hash('sha256', body) ? undefined : Number(id)
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

const pauseKey = ({ repository, branch }: PausedFleet): string => `pause ${repository.id} ${branch}`

/** GitHub names ignore case. */
const keyOf = ({ owner, repo, pull }: Place): string => `${owner}/${repo}#${pull}`.toLowerCase()
