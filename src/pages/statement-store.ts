import type { OfferedFix } from '../fix/suggestions.ts'
import type { TtlStore } from './shelf.ts'

/** The comment and the suggestions for a pull request. */
export interface Statement {
  readonly repositoryId: number
  /** The head that it is about. */
  readonly headSha: string
  /** Markdown of the one comment of ours; absent: there should be none. */
  readonly body?: string
  readonly fixes: readonly OfferedFix[]
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
 * posts them.
 */
export class StatementStore {
  readonly #store: TtlStore

  constructor(store: TtlStore) {
    this.#store = store
  }

  keep(place: Place, statement: Statement): Promise<void> {
    return this.#store.put(keyOf(place), Buffer.from(JSON.stringify(statement)))
  }

  async of(place: Place): Promise<Statement | undefined> {
    const bytes = await this.#store.get(keyOf(place))
    return bytes && (JSON.parse(bytes.toString('utf8')) as Statement)
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

/** GitHub's names ignore case. */
const keyOf = ({ owner, repo, pull }: Place): string => `${owner}/${repo}#${pull}`.toLowerCase()
