import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { readClustersFile } from '../../../src/cluster/clusters-file.ts'
import { readConfig, readWorkerConfig } from '../../../src/config.ts'
import type { Json } from '../../../src/kube/node.ts'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { startCluster, type TestCluster } from '../../../tools/envtest/start.ts'
import type { FakeGitHub } from '../../../tools/github/start.ts'
import { run } from '../../surface/cli/run-main.ts'
import { privateKey, webhookSecret } from '../../surface/config/environment-of.ts'
import { githubOfStart } from '../../workers/app/github-of-start.ts'
import { type Program, runProgram, untilReady } from '../../workers/app/run-program.ts'
import { freePort, hasRedis } from '../../workers/queue/start-redis.ts'
import { built } from './built.ts'

const ROOT = join(import.meta.dirname, '../../..')
const directory = mkdtempSync(join(tmpdir(), 'bailiwick-deployed-app-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

interface Container {
  readonly command: readonly string[]
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: Json }[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly volumeMounts: readonly { readonly mountPath: string }[]
  readonly [probe: `${string}Probe`]: { readonly httpGet: { readonly path: string } }
}
interface PodSpec {
  readonly containers: readonly Container[]
  readonly volumes: readonly object[]
}
interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec?: {
    readonly template?: { readonly metadata: object; readonly spec: PodSpec }
    readonly volumeClaimTemplates?: readonly Manifest[]
  }
  readonly data?: Readonly<Record<string, string>>
}

const manifests = async (folder: string): Promise<Manifest[]> => {
  const { code, stdout } = await run(ROOT, 'render', join(ROOT, 'deploy', folder))
  expect(code).toBe(0)
  return parseAllDocuments(stdout).map(document => document.toJSON())
}
const settingsOf = (all: readonly Manifest[]) =>
  all.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.startsWith('bailiwick-settings'))?.data ?? {}
const containerOf = (all: readonly Manifest[], name: string): Container =>
  all.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name)!.spec!.template!.spec.containers[0]!

/** What the Secret holds that the manifests ask for. */
const SECRET: Readonly<Record<string, string>> = {
  APP_ID: '4711',
  WEBHOOK_SECRET: webhookSecret,
  WEBHOOK_SECRET_PREVIOUS: `${webhookSecret}-old`,
  CLIENT_ID: 'Iv1.abc',
  CLIENT_SECRET: 'secret-of-the-client',
  METRICS_TOKEN: 'a-token-of-the-tests-0123456789',
  REDIS_URL: 'redis://127.0.0.1:6379',
}

/** The variables that the kubelet would give to a container. */
function variablesOf({ env }: Container, settings: Readonly<Record<string, string>>): Record<string, string> {
  const own = env.map(({ name, value, valueFrom }) => {
    const { secretKeyRef } = (valueFrom ?? {}) as { secretKeyRef?: { name: string; key: string } }
    expect(secretKeyRef === undefined || (secretKeyRef.name === 'bailiwick' && secretKeyRef.key in SECRET)).toBe(true)
    return [name, value ?? SECRET[secretKeyRef!.key]!]
  })
  return { ...settings, ...Object.fromEntries(own) }
}

const PROCESSES = ['bailiwick-web', 'bailiwick-worker'] as const

describe.each(['app', 'example'])('the settings of deploy/%s', folder => {
  test('are complete for both processes, and the worker gets no secret of the web process', async () => {
    const all = await manifests(folder)
    const [web, worker] = PROCESSES.map(name => variablesOf(containerOf(all, name), settingsOf(all)))
    const readFile = (path: string) => {
      const files = { app: ['private-key.pem', privateKey], clusters: ['clusters.yaml', 'clusters: []\n'] } as const
      const [, folder, name] = /^\/etc\/bailiwick\/(app|clusters)\/(.+)$/.exec(path) ?? []
      const [file, text] = files[folder as keyof typeof files]
      expect(name).toBe(file)
      return text
    }
    const written: string[] = []
    const tryWrite = (path: string) => void written.push(path)
    expect(readConfig(web!, readFile, tryWrite)).toMatchObject({ host: '0.0.0.0', port: 3000, appId: 4711 })
    expect(readWorkerConfig(worker!, readFile, tryWrite)).toMatchObject({ host: '0.0.0.0', port: 3000, appId: 4711 })
    expect(written).toEqual(['/var/cache/bailiwick/objects'])
    const onlyWeb = Object.keys(web!).filter(name => !(name in worker!))
    expect(onlyWeb.sort()).toEqual(['CLIENT_ID', 'CLIENT_SECRET', 'WEBHOOK_SECRET', 'WEBHOOK_SECRET_PREVIOUS'])
    const documented = readFileSync(join(ROOT, 'docs/settings.md'), 'utf8')
    for (const name of [...Object.keys(web!), ...Object.keys(worker!)]) expect(documented).toContain(`| \`${name}\` |`)
  })

  test('name files that are mounted, and a clusters.yaml that is valid', async () => {
    const all = await manifests(folder)
    for (const name of PROCESSES) {
      const container = containerOf(all, name)
      const mounts = container.volumeMounts.map(({ mountPath }) => mountPath)
      const paths = container.env.flatMap(({ value = '' }) => (value.startsWith('/') ? [value] : []))
      expect(paths.filter(path => !mounts.some(mount => path === mount || path.startsWith(`${mount}/`)))).toEqual([])
    }
    const file = join(directory, `${folder}.yaml`)
    const map = all.find(({ metadata }) => metadata.name.startsWith('bailiwick-clusters'))
    writeFileSync(file, map!.data!['clusters.yaml']!)
    expect(readClustersFile(file).map(({ name }) => name)).toEqual([])
  })
})

test('a fleet that installs the App passes, and the App is evaluated', async () => {
  const dir = join(directory, 'acme')
  cpSync(join(ROOT, 'test/fleet/fleets/acme'), dir, { recursive: true })
  mkdirSync(join(dir, 'fleet/infrastructure/bailiwick'), { recursive: true })
  for (const folder of ['app', 'redis', 'monitoring', 'example'])
    cpSync(join(ROOT, 'deploy', folder), join(dir, 'fleet/infrastructure/bailiwick', folder), { recursive: true })
  const flux = parse(readFileSync(join(ROOT, 'deploy/example/flux.yaml'), 'utf8'))
  // as every Kustomization of this fleet
  flux.spec.serviceAccountName = 'kustomize-controller'
  writeFileSync(join(dir, 'fleet/clusters/staging/bailiwick.yaml'), JSON.stringify(flux))
  const check = async (at: string) => {
    const repos = [
      '--url',
      'https://github.com/acme/fleet',
      '--repo',
      `https://github.com/acme/dev-team=${at}/dev-team`,
    ]
    const { code, stdout } = await run(at, 'check', 'fleet', ...repos, '-o', 'json')
    return { code, said: JSON.parse(stdout) }
  }
  const before = await check(join(ROOT, 'test/fleet/fleets/acme'))
  const { code, said } = await check(dir)
  expect({ code, violations: said.violations, errors: said.errors, warnings: said.warnings }).toEqual({
    ...{ code: 0, violations: [], errors: [], warnings: before.said.warnings },
  })
  const objects = (await manifests('example')).length
  expect(said.evaluated.objects).toBe(before.said.evaluated.objects + objects + 1)
})

const missing = findAssets() ? undefined : NO_ASSETS

describe.skipIf(missing)(`on an API server${missing ? ` (${missing})` : ''}`, () => {
  let cluster: TestCluster
  beforeAll(async () => {
    cluster = await startCluster()
  })
  afterAll(() => cluster?.stop())

  const pathOf = ({ apiVersion, kind, metadata }: Manifest): string => {
    const plural = `${kind.toLowerCase()}s`.replace('policys', 'policies').replace('sss', 'sses')
    const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    return `${group}/${kind === 'Namespace' ? '' : `namespaces/${metadata.namespace}/`}${plural}`
      .replace('ingresss', 'ingresses')
      .replace('ingresseses', 'ingresses')
  }

  test('every object is accepted strictly, and the Pods under the restricted profile', async () => {
    const all = (await manifests('example')).filter(({ kind }) => !['PodMonitor', 'PrometheusRule'].includes(kind))
    for (const manifest of [...all].sort((a, b) => Number(b.kind === 'Namespace') - Number(a.kind === 'Namespace'))) {
      const answer = await cluster.request('POST', `${pathOf(manifest)}?fieldValidation=Strict`, manifest as never)
      expect({ name: manifest.metadata.name, ...answer }).toMatchObject({ status: 201 })
    }
    for (const { kind, spec } of all) {
      if (!spec?.template) continue
      const metadata = { ...spec.template.metadata, name: `a-${kind.toLowerCase()}` }
      const claimed = (spec.volumeClaimTemplates ?? []).map(claim => ({ name: claim.metadata.name, emptyDir: {} }))
      const volumes = [...spec.template.spec.volumes, ...claimed]
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { ...spec.template.spec, volumes } }
      const path = '/api/v1/namespaces/bailiwick/pods?dryRun=All&fieldValidation=Strict'
      const answer = await cluster.request('POST', path, pod as never)
      expect({ kind, ...answer }).toMatchObject({ status: 201 })
    }
    const privileged = { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] }
    const refused = await cluster.request('POST', '/api/v1/namespaces/bailiwick/pods?dryRun=All', {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'no' }, spec: privileged },
    })
    expect(refused.status).toBe(403)
  })
})

describe.skipIf(!hasRedis)('the processes, with what the manifests give them', () => {
  const programs: Program[] = []
  let github: FakeGitHub
  let settings: Readonly<Record<string, string>>
  beforeAll(async () => {
    ;({ github, settings } = await githubOfStart())
  })
  afterAll(async () => {
    await Promise.all(programs.map(program => program.end()))
    await github.close()
  })

  test.each(PROCESSES)('%s is ready where its probes ask', async name => {
    const { folder } = await built()
    const all = await manifests('app')
    const { command, ports, ...container } = containerOf(all, name)
    const redisPort = await freePort()
    const redis = ['redis-server', '--port', `${redisPort}`, '--bind', '127.0.0.1', '--dir', directory]
    programs.push(runProgram([...redis, '--maxmemory-policy', 'noeviction'], {}, directory))
    const port = await freePort()
    const clusters = join(directory, 'app-clusters.yaml')
    writeFileSync(clusters, 'clusters: []\n')
    expect(ports).toEqual([{ name: 'http', containerPort: 3000 }])
    const here = { REDIS_URL: `redis://127.0.0.1:${redisPort}`, HOST: '127.0.0.1', PORT: `${port}` }
    const given = variablesOf(containerOf(all, name), settingsOf(all))
    const env = {
      ...given,
      ...here,
      CACHE_DIR: directory,
      CLUSTERS_FILE: clusters,
      ...settings,
      PRIVATE_KEY_PATH: undefined,
    }
    const program = runProgram(command, env, folder)
    programs.push(program)
    await untilReady(`http://127.0.0.1:${port}/readyz`, program)
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
      const { path } = container[probe]!.httpGet
      expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(200)
    }
    program.process.kill('SIGTERM')
    expect(await program.exit).toBe(0)
  })
})
