import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { createLog } from '../../../src/process/log.ts'
import { startSite } from '../../../src/start-site.ts'
import type { FakeGitHub } from '../../../tools/github/start.ts'
import { environment } from '../../surface/config/environment-of.ts'
import { deliver, pushPayload } from '../../surface/web/deliver.ts'
import { freePort, hasRedis, startRedis } from '../queue/start-redis.ts'
import { until } from '../queue/until.ts'
import { githubOfStart } from './github-of-start.ts'
import { type Program, runProgram, untilReady } from './run-program.ts'

let github: FakeGitHub
let settings: Readonly<Record<string, string>>
beforeAll(async () => {
  ;({ github, settings } = await githubOfStart())
})
afterAll(() => github.close())

const programs: Program[] = []
const folders: string[] = []

function run(command: readonly string[], env: Record<string, string | undefined>): Program {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-app-'))
  folders.push(folder)
  const program = runProgram(command, { CACHE_DIR: folder, ...env })
  programs.push(program)
  return program
}

afterEach(async () => {
  await Promise.all(programs.splice(0).map(program => program.end()))
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

describe('a start with bad settings ends with one line and exit code 2', () => {
  test.each([
    ['src/index.ts', environment({ APP_ID: undefined }), /^error\[config\]: APP_ID is missing\. Copy the "App ID"/],
    ['src/index.ts', environment({ WEBHOOK_SECRET: 'development' }), /^error\[config\]: WEBHOOK_SECRET .*openssl/],
    ['src/index.ts', environment({ PORT: 'x' }), /^error\[config\]: PORT is not a whole number/],
    ['workers/index.ts', environment(), /^error\[config\]: REDIS_URL is missing\. Set /],
  ])('%s %#', async (file, env, line) => {
    const program = run(['node', file], env)
    expect(await program.exit).toBe(2)
    expect(program.complained()).toMatch(line)
    expect(program.complained().trimEnd().split('\n')).toHaveLength(1)
    expect(program.said()).toBe('')
  })
})

test('without Redis the web process runs jobs itself, and stops cleanly', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const program = run(['node', 'src/index.ts'], environment({ PORT: `${port}`, ...settings }))
  await untilReady(`${url}/readyz`, program)
  expect(await deliver(url, 'ping', { zen: 'x' })).toMatchObject({ status: 200 })
  program.process.kill('SIGTERM')
  expect(await program.exit).toBe(0)
  expect(program.complained()).toBe('')
})

test('a site that is closed neither listens nor takes jobs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-site-'))
  folders.push(folder)
  const config = readConfig(environment({ CACHE_DIR: folder, GITHUB_API_URL: 'http://127.0.0.1:1' }))
  const site = await startSite(config, createLog('silent'))
  expect((await fetch(`${site.url}/readyz`)).status).toBe(200)
  await site.close()
  await expect(fetch(`${site.url}/readyz`)).rejects.toThrow()
  await expect(site.queue.add('reconcile', { cluster: 'staging' })).rejects.toMatchObject({ code: 'queue-unavailable' })
})

describe.skipIf(!hasRedis)('beside a Redis', () => {
  test('the web process answers 503 while Redis is away, and 200 when it is back', async () => {
    const redis = await startRedis(['--appendonly', 'yes'])
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const program = run(['node', 'src/index.ts'], environment({ PORT: `${port}`, REDIS_URL: redis.url, ...settings }))
    await untilReady(`${url}/readyz`, program)
    expect(await deliver(url, 'push', pushPayload())).toMatchObject({ status: 200 })
    await redis.kill()
    expect(await deliver(url, 'push', pushPayload())).toMatchObject({ status: 503 })
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    await redis.restart()
    await until(async () => (await deliver(url, 'push', pushPayload())).status === 200)
    program.process.kill('SIGINT')
    expect(await program.exit).toBe(0)
    expect(program.complained()).toBe('')
    await redis.stop()
  })
})
