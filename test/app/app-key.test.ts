import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { environment, privateKey } from '../config/environment-of.ts'
import { acme } from '../github/acme.ts'
import { freePort, hasRedis, startRedis } from '../queue/start-redis.ts'
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
    expect(program.said()).toBe('')
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

test('an outage of GitHub does not keep it from starting', async () => {
  const port = await freePort()
  const program = start('src/index.ts', { GITHUB_API_URL: 'http://127.0.0.1:1', PORT: String(port) })
  await untilReady(`http://127.0.0.1:${port}/readyz`, program)
  expect(program.said()).toContain('GitHub could not be asked')
  await program.end()
})
