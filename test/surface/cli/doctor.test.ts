import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../../../src/config.ts'
import { designationMarker } from '../../../src/github/designate.ts'
import { problemsOf, readSettings } from '../../../src/process/settings.ts'
import { diagnosePublicUrl } from '../../../src/surface/doctor/diagnose-reach.ts'
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
    const { code, of, checks } = await doctor({ FLEETS: 'acme/fleet' })
    expect(checks.filter(({ state }) => state !== 'ok')).toEqual([])
    expect(code).toBe(0)
    expect(of('app')[0]?.message).toContain(world.github.app.slug)
    expect(of('installation').map(({ message }) => message)).toEqual(['the installation of acme has every permission'])
  })

  test('no fleet is designated: how, and not once somebody did', async () => {
    const { code, of } = await doctor()
    const fix = expect.stringContaining('`/bailiwick designate`')
    const entry = { state: 'weak', message: 'no fleet is designated for acme', fix }
    expect(of('installation')).toContainEqual(expect.objectContaining(entry))
    expect(code).toBe(1)
    const { id, privateKey, slug } = world.github.app
    const installation = [...world.github.world.installations.values()].find(one => one.app.id === id)!.id
    const at = world.github.repositoryNamed('acme/fleet').id
    const record = { installation, at, generation: 1, state: 'designated', by: 'owner', fleets: [] } as const
    world.github.issue({ repo: 'acme/fleet', title: 'x', body: designationMarker(record, privateKey), as: 'ada' })
    expect((await doctor()).of('installation'), 'anyone can copy it').toContainEqual(expect.objectContaining(entry))
    world.github.issue({
      repo: 'acme/fleet',
      title: 'x',
      body: designationMarker(record, privateKey),
      as: `${slug}[bot]`,
    })
    expect((await doctor()).code).toBe(0)
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
    expect(of('installation')).toContainEqual(
      expect.objectContaining({ state: 'weak', message: 'acme is not in ALLOWED_ACCOUNTS' }),
    )
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

describe('what the settings name', () => {
  test('fleets and accounts where the App is not installed', async () => {
    const clusters = join(scratch(), 'clusters.yaml')
    writeFileSync(clusters, 'clusters: [{name: staging, fleet: "https://github.com/acme/nothing", mode: gate}]\n')
    const changes = { FLEETS: 'acme/fleet,acme/flet', ALLOWED_ACCOUNTS: 'acme,YOURS', CLUSTERS_FILE: clusters }
    const { code, of } = await doctor(changes)
    expect(code).toBe(1)
    expect(of('installation').map(({ state, message }) => `${state}: ${message}`)).toEqual([
      'weak: ALLOWED_ACCOUNTS names yours, where the App is not installed',
      'weak: FLEETS names acme/flet, where the App is not installed',
      'weak: the cluster staging of clusters.yaml names https://github.com/acme/nothing, where the App is not installed',
      'ok: the installation of acme has every permission',
    ])
  })

  test.each([
    ['https://bailiwick.example.com', 'https://api.github.com', /is the example/],
    ['https://bailiwick.your.domain', 'https://git.acme.dev/api/v3', /is the example/],
    ['https://10.1.2.3', 'https://api.github.com', /cannot reach/],
    ['https://[fd00::1]', 'https://api.acme.ghe.com', /cannot reach/],
    ['https://bailiwick', 'https://api.github.com', /cannot reach/],
    ['https://bailiwick.svc', 'https://api.github.com', /cannot reach/],
    ['http://localhost:3000', 'https://api.github.com', /is the example|cannot reach/],
    ['https://10.1.2.3', 'https://git.acme.dev/api/v3', undefined],
    ['http://localhost:3000', 'http://127.0.0.1:1', undefined],
    ['https://bailiwick.acme.dev', 'https://api.github.com', undefined],
  ])('PUBLIC_URL %s with %s', (publicUrl, githubApiUrl, problem) => {
    const found = diagnosePublicUrl({ publicUrl, githubApiUrl })
    expect(found).toHaveLength(problem === undefined ? 0 : 1)
    if (problem) expect(found[0]).toMatchObject({ state: 'weak', message: expect.stringMatching(problem) })
  })

  test('a cache that cannot be written, and keys of workers that a start refuses', async () => {
    const home = scratch()
    writeFileSync(join(home, 'file'), '')
    const unwritable = await doctor({ CACHE_DIR: join(home, 'file', 'cache') })
    expect([unwritable.code, unwritable.of('settings')[0]?.message]).toEqual([
      1,
      `CACHE_DIR names ${home}/file/cache, which cannot be written (ENOTDIR)`,
    ])
    const clusters = join(home, 'clusters.yaml')
    const entry = (name: string, key: string) =>
      `  - {name: ${name}, fleet: "https://github.com/acme/fleet", mode: reconcile, workerKey: ${key}}\n`
    const wrong = async (text: string) => {
      writeFileSync(clusters, `clusters:\n${text}`)
      const { code, of } = await doctor({ CLUSTERS_FILE: clusters })
      expect(code).toBe(1)
      return of('clusters').filter(({ state }) => state === 'wrong')
    }
    expect(await wrong(entry('a', 'none'))).toMatchObject([{ message: expect.stringMatching(/none.*cannot be read/) }])
    writeFileSync(join(home, 'key'), 'k'.repeat(64))
    expect(await wrong(entry('a', 'key') + entry('b', 'key'))).toMatchObject([
      { message: 'the clusters a and b have the same workerKey' },
    ])
  })

  test('a worker in a cluster is asked for its own settings, and for none of the App', async () => {
    const home = scratch()
    const clusters = join(home, 'clusters.yaml')
    writeFileSync(clusters, 'clusters: [{name: staging, fleet: "https://github.com/acme/fleet", mode: reconcile}]\n')
    const env = { WORKER_CLUSTERS: 'other', CLUSTERS_FILE: clusters, WEB_URL: 'https://bailiwick.acme.dev' }
    const check = async (more: Record<string, string>) => {
      const { stdout } = await runWith({ ...env, ...more }, home, 'doctor', '--process', 'worker', '-o', 'json')
      return (JSON.parse(stdout).checks as Check[]).map(({ state, message }) => `${state}: ${message}`)
    }
    expect(await check({})).toEqual(['wrong: WORKER_KEY_FILE is missing'])
    const WORKER_KEY_FILE = join(home, 'key')
    expect(await check({ WORKER_KEY_FILE })).toEqual([
      'wrong: WORKER_KEY_FILE cannot be read',
      'ok: every setting is valid',
    ])
    writeFileSync(WORKER_KEY_FILE, 'k'.repeat(64))
    expect(await check({ WORKER_KEY_FILE })).toEqual([
      `wrong: ${clusters} has no cluster other with \`mode: reconcile\``,
      'ok: every setting is valid',
    ])
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

describe('webhooks, by the list of deliveries of GitHub', () => {
  test('taken, refused for the secret, and lost on the way', async () => {
    const answers = [200, 401, 404]
    const server = createServer((_, response) => response.writeHead(answers.shift() ?? 500).end())
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    world.github.app.webhookUrl = `http://127.0.0.1:${port}/api/github/webhooks`
    const found: string[] = []
    for (const _ of [...answers]) {
      world.github.send(world.github.app, 'ping', {})
      await world.github.idle()
      const { of } = await doctor()
      found.push(...of('webhooks').map(({ state, message }) => `${state}: ${message.replace(/\(.*?\) /, '')}`))
    }
    world.github.app.webhookUrl = undefined
    server.close()
    expect(found).toEqual([
      'ok: the web process took the last webhook',
      'wrong: the last webhook was refused: its signature does not match WEBHOOK_SECRET',
      'wrong: the last webhook failed with the status 404',
    ])
  })
})
