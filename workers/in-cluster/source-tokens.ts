import type { ContentToken } from '../../src/channel/cluster-work.ts'
import type { WebClient } from '../../src/channel/web-client.ts'
import { BailiwickError } from '../../src/errors.ts'

/** A token that is about to end is not begun with. */
const LASTS_MS = 300_000

/** The tokens that read the sources of a cluster, as the web process gives them; in memory only. */
export class SourceTokens {
  readonly #web: Pick<WebClient, 'tokens'>
  readonly #cluster: string
  #tokens: readonly ContentToken[] = []
  #command: Promise<void> | undefined

  constructor(web: Pick<WebClient, 'tokens'>, cluster: string) {
    this.#web = web
    this.#cluster = cluster
  }

  /** Throws `source-unreadable` for a repository that is no source of the cluster, and like the web process. */
  async of(repository: number): Promise<string> {
    if (!this.#find(repository)) {
      this.#command ??= this.#ask().finally(() => {
        this.#command = undefined
      })
      await this.#command
    }
    const found = this.#find(repository)
    if (found) return found.token
    throw new BailiwickError('source-unreadable', `the web process gives no token for the repository ${repository}`)
  }

  /** What GitHub does not accept any more is asked for again. */
  forget(token: string): void {
    this.#tokens = this.#tokens.filter(one => one.token !== token)
  }

  #find(repository: number): ContentToken | undefined {
    return this.#tokens.find(
      ({ repositories, expiresAt }) =>
        repositories.includes(repository) && Date.parse(expiresAt) - LASTS_MS > Date.now(),
    )
  }

  async #ask(): Promise<void> {
    this.#tokens = await this.#web.tokens(this.#cluster)
  }
}
