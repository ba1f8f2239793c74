import { askRedis } from '../process/ask-redis.ts'
import { type Diagnosis, entriesOf } from './diagnosis.ts'

/** Checks the version, eviction policy and durability of Redis. */
export async function diagnoseRedis(url: string | undefined): Promise<Diagnosis[]> {
  const { ok, bad } = entriesOf('redis')
  if (url === undefined) return [ok('REDIS_URL is not set: jobs are kept in the web process')]
  try {
    const { version, problems } = await askRedis(url, { warn: () => undefined })
    const found = problems.map(({ state, message, fix }) => bad(state, message, fix))
    return version === 'unknown' ? found : [ok(`Redis ${version}`), ...found]
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error)
    const fix = 'Check REDIS_URL, and that this machine reaches it.'
    return [bad('wrong', `Redis does not answer: ${what}`, fix)]
  }
}
