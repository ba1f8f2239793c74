import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BailiwickError } from '../../../src/base/errors.ts'
import { openAppKey } from '../../../src/github/client/open-app-key.ts'
import { acme } from '../../../tools/github/acme.ts'
import { environment, privateKey } from '../../surface/config/environment-of.ts'
import { freePort, hasRedis, startRedis } from '../queue/start-redis.ts'
import { until } from '../queue/until.ts'
import { runProgram, untilReady } from './run-program.ts'

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-app-key-'))
let env: Awaited<ReturnType<typeof acme>>
beforeAll(async () => {
  env = await acme()
})
afterAll(async () => {
  await env.github.close()
  rmSync(folder, { recursive: true, force: true })
})

const start = (file: string, changes: Record<string, string>) =>
  runProgram(['node', file], environment({ CACHE_DIR: folder, GITHUB_API_URL: env.github.url, ...changes }))

describe('a key that is not of the App ends the start with one line and exit code 2', () => {
  const line = /^error\[config\]: APP_ID and PRIVATE_KEY: GitHub does not accept this key for the App \d+\. Open .+\n$/

  test.each([
    ['a key of another App', () => ({ APP_ID: String(env.github.app.id), PRIVATE_KEY: privateKey })],
    ['an App that does not exist', () => ({ APP_ID: '999999', PRIVATE_KEY: env.github.app.privateKey })],
  ])('%s', async (_, settings) => {
    const program = start('src/index.ts', settings())
    expect(await program.exit).toBe(2)
    expect(program.complained()).toMatch(line)
    expect(program.said().split('\n')).toHaveLength(2) // that it starts
  })

  test.skipIf(!hasRedis)('of a worker beside a Redis too', async () => {
    const redis = await startRedis()
    const program = start('workers/index.ts', { REDIS_URL: redis.url, APP_ID: String(env.github.app.id) })
    expect(await program.exit).toBe(2)
    expect(program.complained()).toMatch(line)
    await redis.stop()
  })
})

test('the right key starts, and the log names the App', async () => {
  const port = await freePort()
  const { id, privateKey: key, slug } = env.github.app
  const program = start('src/index.ts', { APP_ID: String(id), PRIVATE_KEY: key, PORT: String(port) })
  await untilReady(`http://127.0.0.1:${port}/readyz`, program)
  expect(program.said()).toContain(`"app":"${slug}"`)
  await program.end()
})

test('a start says which permissions and events an installation lacks, each with its remedy', async () => {
  const slug = `modest-${Date.now()}`
  const permissions = { contents: 'read', checks: 'write' } as const
  const app = env.github.addApp({ slug, permissions, events: ['push'] })
  env.github.install(app, 'acme')
  const program = start('src/index.ts', { APP_ID: String(app.id), PRIVATE_KEY: app.privateKey, PORT: '0' })
  const warnings = () =>
    program
      .said()
      .split('\n')
      .flatMap(line => (line.includes('"level":"warn"') ? [JSON.parse(line) as { msg: string; fix: string }] : []))
  await until(() => warnings().length === 3)
  expect(warnings().map(({ msg, fix }) => [msg, fix])).toEqual([
    [
      expect.stringMatching(/^the App lacks .*contents: write, .*issues: write/),
      expect.stringContaining(`App ${slug}`),
    ],
    [expect.stringMatching(/^the App is not subscribed to .*pull_request/), expect.stringContaining(`App ${slug}`)],
    [
      expect.stringMatching(/^the installation of acme lacks .*contents: write, /),
      expect.stringMatching(/^Accept the new permissions: http/),
    ],
  ])
  await program.end()
})

/** A port at which GitHub answers as soon as it is opened. */
async function closedDoor() {
  const port = await freePort()
  const { port: github } = new URL(env.github.url)
  let server: Server | undefined
  return {
    url: `http://127.0.0.1:${port}`,
    open: async () => {
      server = createServer(near => near.pipe(connect(Number(github), '127.0.0.1')).pipe(near)).listen(
        port,
        '127.0.0.1',
      )
      await once(server, 'listening')
    },
    close: () => server?.close(),
  }
}

describe('an outage of GitHub', () => {
  test('a process starts and is not ready; the key of another App ends it as soon as GitHub answers', async () => {
    const [port, door] = [await freePort(), await closedDoor()]
    const program = start('src/index.ts', {
      ...{ GITHUB_API_URL: door.url, PORT: String(port) },
      ...{ APP_ID: String(env.github.app.id), PRIVATE_KEY: privateKey },
    })
    await untilReady(`http://127.0.0.1:${port}/healthz`, program)
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`)
    expect([answer.status, await answer.text()]).toEqual([503, 'not ready: GitHub does not respond\n'])
    await door.open()
    expect(await program.exit).toBe(2)
    expect(program.said()).toMatch(/"level":"error".*GitHub does not accept this key for the App \d+/)
    door.close()
  })

  const openKey = (key: string, url: string) => {
    const refusals: BailiwickError[] = []
    const log = { info: () => {}, warn: () => {} }
    const opened = openAppKey(
      { appId: env.github.app.id, privateKey: key, githubApiUrl: url },
      { log, retryMs: 5, onRefused: error => refusals.push(error) },
    )
    return { opened, refusals }
  }

  test('the right key is accepted as soon as GitHub answers', async () => {
    const door = await closedDoor()
    const { opened, refusals } = openKey(env.github.app.privateKey, door.url)
    const key = await opened
    await expect(key.accepted()).rejects.toMatchObject({ code: 'github-unavailable' })
    await door.open()
    await until(() =>
      key.accepted().then(
        () => true,
        () => false,
      ),
    )
    expect(refusals).toEqual([])
    door.close()
  })

  test('a refusal is told once', async () => {
    const door = await closedDoor()
    const { opened, refusals } = openKey(privateKey, door.url)
    const key = await opened
    await door.open()
    await until(() => refusals.length > 0)
    expect(refusals).toEqual([expect.objectContaining({ code: 'config', fix: expect.stringContaining('APP_ID') })])
    await expect(key.accepted()).rejects.toMatchObject({ code: 'github-unavailable' })
    door.close()
  })
})
