import type { IncomingMessage } from 'node:http'

/** GitHub does not deliver payloads over 25 MB: https://docs.github.com/en/webhooks/webhook-events-and-payloads */
export const MAX_BODY = 25 * 1024 * 1024

const AT_ONCE = 4

/** Reads request bodies; together they use at most the memory of a few bodies of the largest size. */
export class BodyReader {
  readonly #largest: number
  readonly #together: number
  #held = 0

  constructor(largest: number = MAX_BODY, atOnce: number = AT_ONCE) {
    this.#largest = largest
    this.#together = largest * atOnce
  }

  /**
   * The body, `too-large` when it says or turns out to be over the limit, `busy` when too many are read already,
   * `aborted` when the client went away. Nothing is kept beyond the limits.
   */
  async read(request: IncomingMessage): Promise<Buffer | 'too-large' | 'busy' | 'aborted'> {
    if (Number(request.headers['content-length'] ?? 0) > this.#largest) return 'too-large'
    let size = 0
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request.iterator({ destroyOnReturn: false })) {
        const bytes: Buffer = chunk
        if (size + bytes.length > this.#largest) return 'too-large'
        if (this.#held + bytes.length > this.#together) return 'busy'
        size += bytes.length
        this.#held += bytes.length
        chunks.push(bytes)
      }
      return request.complete ? Buffer.concat(chunks) : 'aborted'
    } catch {
      return 'aborted' // reading fails only when the connection does
    } finally {
      this.#held -= size
    }
  }
}
