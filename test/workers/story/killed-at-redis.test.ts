import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jsonAt } from '../../../src/cluster/json.ts'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { programs } from '../../repository/runner/programs.ts'
import { type RedisProxy, startRedisProxy } from '../queue/redis-proxy.ts'
import { hasRedis } from '../queue/start-redis.ts'
import { batchFiles, batchObjects, liveObjects } from './batch.ts'
import { openProcesses, type Processes } from './processes.ts'

const missing = findAssets() ? (hasRedis ? undefined : programs['redis-server'].get) : NO_ASSETS
const TEAM = 'acme/dev-team'
const APPLY = 'bailiwick / apply (staging)'
/** Each command from a push to its results, before Redis has it and after it is answered; by default these first. */
const EVERY = process.env.EVERY_MOMENT !== undefined
const SOME = ['addStandardJob bailiwick:reconcile-H:wait', 'moveToFinished bailiwick:reconcile-H:wait']

/** Scripts of BullMQ by their digest. */
const SCRIPTS: ReadonlyMap<string, string> = (() => {
  const require = createRequire(import.meta.url)
  const scripts: Record<string, { name: string; content: string }> = require(
    join(require.resolve('bullmq'), '../scripts/index.js'),
  )
  const all = Object.values(scripts).filter(one => typeof one.content === 'string')
  return new Map(all.map(({ name, content }) => [createHash('sha1').update(content).digest('hex'), name]))
})()
/** What a clock sends, or a connection that begins. */
const BY_ITSELF =
  /^(?:bzpopmin|\S+ bailiwick:sweep|info|client|ping|hello|select|script|subscribe|quit|\S*(?:extendLock|Stalled)\S* )/

/** Command or script, and its queue or first key. */
function nameOf(words: readonly string[]): string | undefined {
  const command = words[0]!.toLowerCase()
  const isScript = command.startsWith('eval')
  const called = isScript ? (SCRIPTS.get(words[1]!) ?? command) : command
  const key = isScript ? words[3] : words[1]
  const name = `${called} ${(key ?? '').replace(/[\da-f]{8,}/g, 'H')}`
  return BY_ITSELF.test(name) ? undefined : name
}

describe.skipIf(missing)(`killed at a command to Redis${missing ? ` (${missing})` : ''}`, () => {
  let app: Processes
  let proxy: RedisProxy
  let commands: readonly string[]
  let count = 0
  beforeAll(async () => {
    app = await openProcesses({
      redisOfWorker: async ({ port }) => {
        proxy = await startRedisProxy(port, nameOf)
        return proxy.url
      },
    })
    await app.start()
    await app.settle()
    proxy.reset()
    push()
    await app.settle()
    commands = [...proxy.seen]
  }, 120_000)
  afterAll(async () => {
    await app?.close()
    await proxy?.close()
  })

  const push = (): string => {
    const name = `batch-${++count}`
    app.github.push({ repo: TEAM, files: batchFiles(name), as: 'ada' })
    return name
  }

  /** Kills the worker at the `nth` command of this name and starts another one; what is wrong then. */
  async function killAt(command: string, nth: number, when: 'sent' | 'answered'): Promise<string[]> {
    await app.start()
    await app.settle()
    const before = await liveObjects(app.staging)
    const killed = Promise.withResolvers<boolean>()
    let isKilling = false
    proxy.reset()
    proxy.moment = async (number, now) => {
      const isThis = proxy.seen[number - 1] === command && nthIn(proxy.seen, number - 1) === nth
      if (!isThis || now !== when || isKilling) return undefined
      isKilling = true
      await app.killWorker()
      killed.resolve(true)
      return 'lost'
    }
    const name = push()
    await app.github.idle()
    const wanted = batchObjects(name)
    const isMet = await Promise.race([killed.promise, app.settle().then(() => isKilling && killed.promise)])
    proxy.moment = undefined
    const known = new Set([...before, ...wanted])
    const problems = (await liveObjects(app.staging)).filter(one => !known.has(one)).map(one => `not approved: ${one}`)
    // when a worker asks for more work, or joins what it says, is chance
    if (!isMet && nth === 1 && SOME.includes(command)) problems.push('it was not sent')
    await app.start()
    await app.settle()
    const live = await liveObjects(app.staging)
    if (live.join() !== wanted.join()) problems.push(`other objects: ${live.filter(one => !wanted.includes(one))}`)
    const runs = app.github.checkRunsOf(TEAM, 'main').filter(one => one.name === APPLY)
    if (runs.length !== 1 || runs[0]!.conclusion !== 'success')
      problems.push(`check runs: ${runs.map(({ conclusion }) => conclusion)}`)
    const { body } = await app.staging.request('GET', `/apis/apps/v1/namespaces/apps/deployments/${name}`)
    const generation = jsonAt(body, 'metadata', 'generation')
    if (generation !== 1) problems.push(`${name} has generation ${generation}`)
    return problems.map(problem => `${command} (${nth}), ${when}: ${problem}`)
  }

  test('an apply takes jobs, makes one, ends them, and notes what it did', () => {
    const queues = ['validate-push', 'reconcile-H', 'post-applied']
    const jobs = queues.flatMap(queue =>
      ['moveToActive', 'moveToFinished'].map(how => `${how} bailiwick:${queue}:wait`),
    )
    expect(commands).toEqual(expect.arrayContaining([...jobs, ...SOME, 'set bailiwick:alone:acme/dev-team@H']))
  })

  test.each(['sent', 'answered'] as const)(
    'when a command is %s: another worker ends in the same state, and does nothing twice',
    async when => {
      const all = commands.map((command, index) => [command, nthIn(commands, index)] as const)
      const chosen = EVERY ? all : SOME.map(command => [command, 1] as const)
      const problems: string[] = []
      for (const [command, nth] of chosen) problems.push(...(await killAt(command, nth, when)))
      expect(problems).toEqual([])
    },
    3_600_000,
  )
})

/** Which one of its name it is, from 1. */
const nthIn = (names: readonly string[], index: number): number =>
  names.slice(0, index + 1).filter(name => name === names[index]).length
