import { hash } from 'node:crypto'
import type { ApplyResults } from '../../src/channel/apply-results.ts'
import type { WebClient } from '../../src/channel/web-client.ts'
import type { Log } from '../../src/process/log.ts'
import { asBailiwickError } from '../job-error.ts'
import { Wake } from './wake.ts'

/** The web process keeps results for days, or in its memory: the same are sent again. */
const RENEW_MS = 600_000

interface SenderSettings {
  readonly web: Pick<WebClient, 'results'>
  readonly cluster: string
  /** How often at most what changes is sent; the end of a run at once. */
  readonly everyMs: number
  /** What there is to say now; undefined: nothing. */
  readonly present: () => ApplyResults | undefined
  readonly log: Log
  /** Why the last report was not taken; undefined: it was. */
  readonly onState: (problem: string | undefined) => void
}

/** Sends what the worker of a cluster has to say whenever it changes, one report at a time and each with what is so then. */
export class ResultSender {
  readonly #settings: SenderSettings
  readonly #wake = new Wake()
  #sent = ''
  #sentAt = Number.NEGATIVE_INFINITY

  constructor(settings: SenderSettings) {
    this.#settings = settings
  }

  /** A run has ended. */
  call(): void {
    this.#wake.call()
  }

  /** Resolves when the signal was given and nothing is sent any more. */
  async run(signal: AbortSignal): Promise<void> {
    const { cluster, everyMs, log, onState } = this.#settings
    while (!signal.aborted) {
      await this.#wake.sleep(everyMs, signal)
      this.#wake.take()
      if (signal.aborted) return
      try {
        await this.#send(signal)
        onState(undefined)
      } catch (err) {
        if (signal.aborted) return
        const { code, message } = asBailiwickError(err)
        onState(message)
        log.warn({ err, cluster, code }, 'results were not taken')
      }
    }
  }

  async #send(signal: AbortSignal): Promise<void> {
    const { web, cluster, present } = this.#settings
    const results = present()
    if (!results) return
    const print = hash('sha256', JSON.stringify(results))
    const isFresh = performance.now() - this.#sentAt < RENEW_MS
    if (print === this.#sent && isFresh) return
    // what was overtaken is nobody's concern; the work that is approved now is asked for anyway
    await web.results(cluster, results, signal)
    this.#sent = print
    this.#sentAt = performance.now()
  }
}
