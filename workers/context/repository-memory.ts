/** When GitHub noted the last push, to the second: what was read a while after it holds until the next one. */
export interface Pushed {
  /** GitHub's id: after a rename or a deletion its address can be another repository's. */
  readonly id: number
  readonly url: string
  readonly defaultBranch: string
  /** ISO time; null for a repository that nobody ever pushed to. */
  readonly pushedAt: string | null
}

/** Two pushes within a second have one time, and clocks differ: only what is older than this is remembered. */
const SETTLED_MS = 60_000
const KEPT = 20_000

/**
 * What repositories said, for as long as nobody pushed to them. An organisation has hundreds that nothing happens in, and
 * each evaluation asks about all of them: one listing then answers for all.
 */
export class RepositoryMemory {
  readonly #known = new Map<string, { readonly pushedAt: string; readonly value: unknown }>()
  readonly #noted = new Map<string, string>()

  /** The answer to `question` about a repository; `ask` runs when it was pushed to since, or only just. */
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
