import { BailiwickError } from '../errors.ts'
import { askRedis } from './ask-redis.ts'
import { askUntilAnswered } from './ask-until-answered.ts'
import type { Log } from './log.ts'

interface Asking {
  readonly log: Pick<Log, 'info' | 'warn'>
  /** Redis answered after the start, and cannot be used. */
  readonly onRefused: (error: BailiwickError) => void
  /** First pause between two questions. */
  readonly retryMs?: number
  /** How long an answer counts. */
  readonly answerCountsMs?: number
}

interface RedisCheck {
  /** Rejects while Redis has not answered yet, or could lose jobs as it is configured now. */
  usable(): Promise<void>
}

const ANSWER_COUNTS_MS = 30_000

/**
 * Asks Redis until it answers whether it can keep jobs: version, password, eviction policy. Throws `config` if it cannot. Its policy may
 * change while the process runs (it restarts with another configuration), so `usable` asks again.
 */
export async function openRedisCheck(
  url: string | undefined,
  { log, onRefused, retryMs, answerCountsMs = ANSWER_COUNTS_MS }: Asking,
): Promise<RedisCheck> {
  if (url === undefined) return { usable: async () => undefined }
  const { problem } = await askUntilAnswered({ ask: () => ask(url, log), onRefused, retryMs })
  let answer: { readonly at: number; readonly refusal: BailiwickError | undefined } = {
    at: Date.now(),
    refusal: undefined,
  }
  return {
    usable: async () => {
      if (problem() !== undefined) {
        throw new BailiwickError('queue-unavailable', `Redis has not answered yet: ${problem()}`, { fix: REACH })
      }
      // an outage is told by the queue, at once
      if (Date.now() - answer.at >= answerCountsMs)
        answer = { at: Date.now(), refusal: await refusalOf(url, log).catch(() => undefined) }
      if (answer.refusal) throw answer.refusal
    },
  }
}

const REACH = 'Check REDIS_URL, and that this machine reaches it.'

/** Undefined if Redis can keep jobs, else why it did not answer. Throws `config` if it cannot. */
async function ask(url: string, log: Asking['log']): Promise<string | undefined> {
  let refusal: BailiwickError | undefined
  try {
    refusal = await refusalOf(url, log)
  } catch (error) {
    log.warn({ err: error }, 'Redis did not answer whether it can keep jobs; not ready until it does')
    return error instanceof Error ? error.message : String(error)
  }
  if (refusal) throw refusal
  log.info('Redis can keep jobs')
  return undefined
}

async function refusalOf(url: string, log: Asking['log']): Promise<BailiwickError | undefined> {
  const { problems } = await askRedis(url, log)
  const wrong = problems.filter(({ state }) => state === 'wrong')
  if (wrong.length === 0) return undefined
  const message = `REDIS_URL: ${wrong.map(one => one.message).join('; ')}`
  return new BailiwickError('config', message, { fix: wrong.map(({ fix }) => fix).join(' ') })
}
