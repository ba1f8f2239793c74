import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { programVersion } from '../../../src/base/version.ts'
import type { FakeGitHub } from '../../../tools/github/start.ts'
import { environment } from '../../surface/config/environment-of.ts'
import { deliver, pushPayload } from '../../surface/web/deliver.ts'
import { freePort, hasRedis, startRedis } from '../queue/start-redis.ts'
import { until } from '../queue/until.ts'
import { githubOfStart } from './github-of-start.ts'
import { type Program, runProgram, untilReady } from './run-program.ts'

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-visible-'))
const programs: Program[] = []
let github: FakeGitHub
let settings: Readonly<Record<string, string>>
beforeAll(async () => {
  ;({ github, settings } = await githubOfStart())
})
afterAll(async () => {
  await Promise.all(programs.map(program => program.end()))
  await github.close()
  rmSync(folder, { recursive: true, force: true })
})

async function start(file: string, changes: Record<string, string | undefined>) {
  const port = await freePort()
  const env = environment({ CACHE_DIR: folder, PORT: `${port}`, ...settings, ...changes })
  const program = runProgram(['node', file], env)
  programs.push(program)
  const lines = () =>
    program
      .said()
      .split('\n')
      .flatMap(line => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]))
  return { program, url: `http://127.0.0.1:${port}`, lines }
}

describe('a cache that cannot be written ends a start that would use it', () => {
  const file = join(folder, 'file')
  const CACHE_DIR = join(file, 'cache')
  const line = `error[config]: CACHE_DIR names ${CACHE_DIR}, which cannot be written (ENOTDIR). Mount a volume that this user can write to, or set CACHE_DIR to such a folder\n`
  beforeAll(() => writeFileSync(file, ''))

  const cluster = { APP_ID: undefined, PRIVATE_KEY: undefined, WEBHOOK_SECRET: undefined, CLUSTERS_FILE: file }
  test.each([
    ['src/index.ts', {}],
    ['workers/index.ts', { REDIS_URL: 'redis://127.0.0.1:1' }],
    [
      'workers/index.ts',
      { ...cluster, WORKER_CLUSTERS: 'staging', WEB_URL: 'https://bailiwick.acme.dev', WORKER_KEY_FILE: file },
    ],
  ])('%s %#', async (program, changes) => {
    const started = await start(program, { CACHE_DIR, ...changes })
    expect(await started.program.exit).toBe(2)
    expect(started.program.complained()).toBe(line)
  })

  test('a web process beside a Redis uses none', async () => {
    const { program, url } = await start('src/index.ts', { CACHE_DIR, REDIS_URL: 'redis://127.0.0.1:1' })
    await untilReady(`${url}/healthz`, program)
  })
})

test.skipIf(!hasRedis)('a worker whose Redis is away starts, is not ready, and works when it is back', async () => {
  const redis = await startRedis()
  await redis.kill()
  const { program, url, lines } = await start('workers/index.ts', { REDIS_URL: redis.url, WEBHOOK_SECRET: undefined })
  await untilReady(`${url}/healthz`, program)
  for (let asked = 0; asked < 3; asked++) expect((await fetch(`${url}/readyz`)).status).toBe(503)
  expect(lines().filter(({ msg }) => msg === 'not ready')).toHaveLength(1)
  await until(() => lines().some(({ msg }) => msg === 'Redis does not answer: no job runs until it does'))
  await redis.restart()
  await untilReady(`${url}/readyz`, program)
  program.process.kill('SIGTERM')
  expect(await program.exit).toBe(0)
  expect(program.complained()).toBe('')
  await redis.stop()
})

describe('the log of a web process with its workers', () => {
  let web: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    web = await start('src/index.ts', { METRICS_TOKEN: 'a-token-of-the-tests' })
    await untilReady(`${web.url}/readyz`, web.program)
  })

  test('begins with the version, which is a metric, too', async () => {
    expect(web.lines()[0]).toMatchObject({ msg: 'starting', process: 'web', version: programVersion() })
    const headers = { authorization: 'Bearer a-token-of-the-tests' }
    const metrics = await (await fetch(`${web.url}/metrics`, { headers })).text()
    expect(metrics).toContain(`bailiwick_build_info{version="${programVersion()}"} 1`)
  })

  test('names a refused webhook once a minute, whoever sends how many', async () => {
    for (let sent = 0; sent < 20; sent++) {
      const changes = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }
      expect(await deliver(web.url, 'push', pushPayload(), changes)).toMatchObject({ status: 401 })
    }
    const refused = () => web.lines().filter(({ msg }) => String(msg).startsWith('webhook refused'))
    await until(() => refused().length > 0)
    expect(refused()).toMatchObject([{ level: 'warn', refused: 1, msg: expect.stringContaining('WEBHOOK_SECRET') }])
  })

  test('names job, repository, attempt and webhook in every line of a job', async () => {
    const delivery = 'd0000000-1111-2222-3333-444444444444'
    await deliver(web.url, 'push', pushPayload(), { 'x-github-delivery': delivery })
    const of = (msg: string) => web.lines().filter(line => line.msg === msg && line.delivery === delivery)
    await until(() => of('job attempt failed').length > 0)
    const job = { job: 'validate-push', repository: 'acme/fleet', branch: 'main', sha: 'a'.repeat(40), delivery }
    const [enqueued] = of('job enqueued')
    expect(enqueued).toMatchObject({ ...job, event: 'push' })
    // the installation of this webhook does not exist
    expect(of('job attempt failed')[0]).toMatchObject({ ...job, attempt: 1, again: true, key: enqueued?.key })
  })
})
