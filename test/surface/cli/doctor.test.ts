import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../../../src/config.ts'
import { problemsOf, readSettings } from '../../../src/process/settings.ts'
import { acme } from '../../../tools/github/acme.ts'
import { runProgram } from '../../workers/app/run-program.ts'
import { hasRedis, startRedis } from '../../workers/queue/start-redis.ts'
import { environment, webhookSecret } from '../config/environment-of.ts'
import { runWith, scratch } from './run-main.ts'

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-doctor-'))
let world: Awaited<ReturnType<typeof acme>>
beforeAll(async () => {
  const { default_events: events } = parse(readFileSync('app.yml', 'utf8'))
  world = await acme({ app: { events } })
})
afterAll(async () => {
  await world.github.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Check {
  readonly state: string
  readonly check: string
  readonly message: string
  readonly fix: string
}

async function doctor(changes: Record<string, string | undefined> = {}, ...args: string[]) {
  const { id, privateKey } = world.github.app
  const app = { GITHUB_API_URL: world.github.url, APP_ID: String(id), PRIVATE_KEY: privateKey }
  const all = Object.entries({ ...environment(), ...app, ...changes }).filter(([, value]) => value !== undefined)
  const ran = await runWith(Object.fromEntries(all) as Record<string, string>, folder, 'doctor', '-o', 'json', ...args)
  const { checks } = (ran.stdout === '' ? { checks: [] } : JSON.parse(ran.stdout)) as { checks: Check[] }
  return { ...ran, checks, of: (check: string) => checks.filter(one => one.check === check) }
}

describe('settings', () => {
  test('all problems are said at once, each with its remedy, and no value of any', async () => {
    const broken = {
      APP_ID: 'x-secret',
      WEBHOOK_SECRET: 'development',
      PORT: 'seventy',
      PRIVATE_KEY: 'no key',
      LOG_LEVEL: 'loud',
    }
    const { code, checks, stdout } = await doctor(broken)
    expect(code).toBe(1)
    expect(checks.map(({ message }) => message.split(' ')[0]).sort()).toEqual(Object.keys(broken).sort())
    for (const { state, fix } of checks) expect([state, fix !== '']).toEqual(['wrong', true])
    expect(stdout).not.toMatch(/x-secret|no key"/)
  })

  test('a start says all of them too, a line for each', async () => {
    const program = runProgram(
      ['node', 'src/index.ts'],
      environment({ APP_ID: undefined, PORT: 'x', WEBHOOK_SECRET: 'y' }),
    )
    expect(await program.exit).toBe(2)
    const lines = program.complained().trimEnd().split('\n')
    expect(lines).toHaveLength(3)
    for (const line of lines) expect(line).toMatch(/^error\[config\]: (?:APP_ID|PORT|WEBHOOK_SECRET) .*\. [A-Z]/)
  })

  test('one that depends on another is found behind it', () => {
    const env = environment({ CLIENT_ID: 'abc', PRIVATE_KEY_PATH: '/nowhere' })
    const messages = problemsOf(env, one => readConfig(one)).map(({ message }) => message)
    expect(messages).toEqual([
      expect.stringMatching(/^PRIVATE_KEY and PRIVATE_KEY_PATH/),
      expect.stringMatching(/^CLIENT_SECRET is missing/),
      expect.stringMatching(/^PUBLIC_URL is missing/),
    ])
    expect(problemsOf(environment(), one => readConfig(one))).toEqual([])
    expect(readSettings(environment(), one => readConfig(one)).appId).toBe(4711)
  })

  test('come from .env, and what is set counts first', async () => {
    const home = scratch()
    writeFileSync(join(home, '.env'), `APP_ID=1\nWEBHOOK_SECRET=${webhookSecret}\nPORT=nonsense\n`)
    const { stdout } = await runWith({ PORT: '1' }, home, 'doctor', '-o', 'json')
    expect(JSON.parse(stdout).checks.map(({ message }: Check) => message)).toEqual([
      expect.stringMatching(/^PRIVATE_KEY is missing/),
    ])
    expect((await runWith({}, home, 'doctor', '--env', 'none')).stderr).toMatch(/^error\[usage\]: none cannot be read/)
  })
})

describe('the App on GitHub', () => {
  test('with everything: all is well', async () => {
    const { code, of, checks } = await doctor()
    expect(checks.filter(({ state }) => state !== 'ok')).toEqual([])
    expect(code).toBe(0)
    expect(of('app')[0]?.message).toContain(world.github.app.slug)
    expect(of('installation').map(({ message }) => message)).toEqual(['the installation of acme has every permission'])
  })

  test('a key of another App', async () => {
    const { code, of } = await doctor({ PRIVATE_KEY: environment().PRIVATE_KEY })
    expect([code, of('app')[0]?.state]).toEqual([1, 'wrong'])
  })

  test('permissions and events that are lacking, of the App and of an installation', async () => {
    const slug = `modest-${Date.now()}`
    const app = world.github.addApp({ slug, permissions: { contents: 'read', checks: 'write' }, events: ['push'] })
    world.github.install(app, 'acme')
    const { code, of } = await doctor({ APP_ID: String(app.id), PRIVATE_KEY: app.privateKey })
    expect(code).toBe(1)
    const messages = [...of('app'), ...of('installation')].map(({ message }) => message)
    expect(messages).toContainEqual(expect.stringMatching(/^the App lacks .*contents: write.*issues: write/))
    expect(messages).toContainEqual(expect.stringMatching(/^the App is not subscribed to .*pull_request/))
    expect(messages).toContainEqual(expect.stringMatching(/^the installation of acme lacks /))
    expect(messages.join()).not.toContain('checks: write')
  })

  test('GitHub cannot be asked: unknown, and the exit code says so', async () => {
    const { code, of } = await doctor({ GITHUB_API_URL: 'http://127.0.0.1:1' })
    expect([code, of('app').map(({ state }) => state)]).toEqual([2, ['unknown']])
  })

  test('an account that is not served', async () => {
    const { of } = await doctor({ ALLOWED_ACCOUNTS: 'other' })
    expect(of('installation')[0]).toMatchObject({ state: 'weak', message: 'acme is not in ALLOWED_ACCOUNTS' })
  })
})

describe.skipIf(!hasRedis)('Redis', () => {
  test('policy and append-only file; a password is not printed', async () => {
    const redis = await startRedis(['--maxmemory-policy', 'allkeys-lru'])
    try {
      const { code, of } = await doctor({ REDIS_URL: redis.url }, '--process', 'worker')
      expect(code).toBe(1)
      expect(of('redis').map(({ state }) => state)).toEqual(['wrong', 'weak', 'ok'])
      expect(of('redis')[0]?.fix).toContain('noeviction')
      const refused = await doctor({ REDIS_URL: redis.url.replace('redis://', 'redis://nobody:hunter2@') })
      expect(refused.of('redis')).toMatchObject([{ state: 'wrong' }])
      expect(refused.stdout).not.toContain('hunter2')
    } finally {
      await redis.stop()
    }
  })

  test('as docker-compose.yml starts it: well', async () => {
    const redis = await startRedis(['--appendonly', 'yes', '--maxmemory-policy', 'noeviction'])
    try {
      expect((await doctor({ REDIS_URL: redis.url })).of('redis').map(({ state }) => state)).toEqual(['ok'])
    } finally {
      await redis.stop()
    }
  })
})

test('the clusters file is read', async () => {
  const file = join(scratch(), 'clusters.yaml')
  writeFileSync(file, 'clusters: [')
  const { code, of } = await doctor({ CLUSTERS_FILE: file })
  expect([code, of('clusters')[0]?.state]).toEqual([1, 'wrong'])
})

test('text: what is wrong first, no line wider than 100 columns', async () => {
  const { id, privateKey } = world.github.app
  const env = { ...environment(), GITHUB_API_URL: world.github.url, APP_ID: String(id), PRIVATE_KEY: privateKey }
  const { stdout, code } = await runWith(
    { ...env, ALLOWED_ACCOUNTS: 'other' } as Record<string, string>,
    folder,
    'doctor',
  )
  expect(code).toBe(1)
  expect(stdout).toMatch(/^STATE +CHECK +FOUND\nweak +installation +acme is not in ALLOWED_ACCOUNTS\n/)
  expect(stdout).toContain('\nWhat to do\n')
  expect(Math.max(...stdout.split('\n').map(line => line.length))).toBeLessThanOrEqual(100)
})
