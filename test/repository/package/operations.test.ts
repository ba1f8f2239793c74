import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { readConfig } from '../../../src/config.ts'
import { InProcessQueue } from '../../../src/receive/in-process-queue.ts'
import { openMetrics } from '../../../src/receive/metrics.ts'
import { run } from '../../surface/cli/run-main.ts'
import { environment } from '../../surface/config/environment-of.ts'
import { silentLog } from '../runner/silent-log.ts'

const ROOT = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** Of many kinds. */
type Manifest = ReturnType<typeof parse>

async function rendered(folder: string): Promise<Manifest[]> {
  const { code, stdout } = await run(ROOT, 'render', join(ROOT, folder))
  expect(code).toBe(0)
  return parseAllDocuments(stdout).map(document => document.toJSON())
}
const named = (all: readonly Manifest[], kind: string, name: string): Manifest =>
  all.find(one => one.kind === kind && one.metadata.name === name)
const containerOf = ({ spec }: Manifest): Manifest => spec.template.spec.containers[0]
const mebibytes = (text: string): number => {
  const [, number, unit] = /^(\d+)(Mi|Gi|mb|m|g)$/.exec(text)!
  return Number(number) * (/^g/i.test(unit!) ? 1024 : 1)
}
/** Every entry of a Secret that a Pod cannot start without. */
const entriesOf = (all: readonly Manifest[]): string[] => {
  const pods = all.flatMap(({ spec }) => (spec?.template ? [spec.template.spec] : []))
  const variables = pods.flatMap(({ containers }) => containers.flatMap(({ env = [] }: Manifest) => env))
  const keys = variables.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []).filter(({ optional }) => !optional)
  const files = pods.flatMap(({ volumes }) =>
    volumes.flatMap(({ secret }: Manifest) =>
      (secret?.items ?? []).map(({ key }: Manifest) => ({ name: secret.secretName, key })),
    ),
  )
  return [...new Set([...keys, ...files].map(({ name, key }) => `${name}/${key}`))].sort()
}

describe('the recommended installation', () => {
  test('is a gate: no cluster is bound, and its Secrets are those that the page makes', async () => {
    const all = await rendered('deploy')
    expect(all).toEqual(await rendered('deploy/example'))
    const clusters = all.find(({ kind, metadata }) => kind === 'ConfigMap' && /clusters/.test(metadata.name))
    expect(parse(clusters.data['clusters.yaml'])).toEqual({ clusters: [] })
    const made = [...read('docs/install.md').matchAll(/create secret generic (\S+) ([\s\S]*?)(?=\n\S)/g)].flatMap(
      ([, name, options = '']) =>
        [...options.matchAll(/--from-(?:literal|file)=([\w.-]+)=/g)].map(([, key]) => `${name}/${key}`),
    )
    const needed = entriesOf(all)
    expect(needed.filter(entry => !made.includes(entry))).toEqual([])
    expect(needed).toContain('bailiwick/private-key.pem')
    expect(made).toContain('bailiwick-redis/redis.conf')
    // asked for where monitoring is added
    expect(made).toContain('bailiwick/METRICS_TOKEN')
  })

  test('names every value that has to be replaced, and no setting that has no row', () => {
    const { configMapGenerator } = parse(read('deploy/example/kustomization.yaml'))
    const names = configMapGenerator[0].literals.map((text: string) => text.split('=', 1)[0])
    expect(names).toEqual(['PUBLIC_URL', 'ALLOWED_ACCOUNTS', 'FLEETS'])
    for (const name of names) expect(read('docs/install.md')).toContain(`\`${name}\``)
  })

  test('the Ingress takes what GitHub sends, and says who makes its certificate', async () => {
    const ingress = named(await rendered('deploy'), 'Ingress', 'bailiwick')
    expect(ingress.metadata.annotations['nginx.ingress.kubernetes.io/proxy-body-size']).toBe('25m')
    expect(ingress.metadata.annotations).toHaveProperty('cert-manager.io/cluster-issuer')
    expect(ingress.spec.tls[0].hosts).toEqual(ingress.spec.rules.map(({ host }: Manifest) => host))
  })

  test('a web process goes on taking webhooks until proxies know that it ends', async () => {
    const web = named(await rendered('deploy'), 'Deployment', 'bailiwick-web')
    const { command } = containerOf(web).lifecycle.preStop.exec
    expect(command.slice(0, 2)).toEqual(['node', '-e'])
    const seconds = Number(/(\d+)_000\)$/.exec(command[2])?.[1])
    expect(seconds).toBeGreaterThanOrEqual(5)
    // and the stop itself takes up to 30 s
    expect(web.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(seconds + 30)
  })

  test.each(['deploy', 'deploy/worker'])('%s: a cache is on a volume that is larger than its limit', async folder => {
    const { cacheMb } = readConfig(environment())
    for (const { kind, spec } of await rendered(folder)) {
      const cache = kind === 'Deployment' && spec.template.spec.volumes.find(({ name }: Manifest) => name === 'cache')
      const { env = [] } = kind === 'Deployment' ? containerOf({ spec }) : {}
      // only what evaluates has one
      if (kind === 'Deployment') expect(Boolean(cache)).toBe(env.some(({ name }: Manifest) => name === 'CACHE_DIR'))
      if (cache) expect(mebibytes(cache.emptyDir.sizeLimit)).toBeGreaterThanOrEqual(cacheMb * 1.5)
    }
  })
})

test('Redis refuses writes before its container is ended, is ready when it has loaded, and may be drained', async () => {
  const all = await rendered('deploy')
  const { command, resources, readinessProbe, image } = containerOf(named(all, 'StatefulSet', 'bailiwick-redis'))
  const limit = mebibytes(command[command.indexOf('--maxmemory') + 1])
  // a rewrite of the append-only file copies what is written meanwhile
  expect(limit).toBeLessThanOrEqual(mebibytes(resources.limits.memory) / 2)
  expect(command[command.indexOf('--maxmemory-policy') + 1]).toBe('noeviction')
  expect(readinessProbe.exec.command).toEqual(['redis-cli', '-e', 'ping'])
  expect(image).toMatch(/@sha256:[0-9a-f]{64}$/)
  expect(named(all, 'PodDisruptionBudget', 'bailiwick-redis').spec.maxUnavailable).toBe(1)
})

test('Compose: limits for memory and logs, Redis as in the manifests, and a cache only where it is used', async () => {
  const { services } = parse(read('docker-compose.yml'))
  const redis = containerOf(named(await rendered('deploy'), 'StatefulSet', 'bailiwick-redis'))
  expect(services.redis.image).toBe(redis.image)
  expect(services.redis.command).toEqual(expect.arrayContaining(['--maxmemory', '512mb']))
  for (const [name, service] of Object.entries<Manifest>(services)) {
    expect(mebibytes(service.mem_limit), name).toBeGreaterThanOrEqual(1024)
    expect(service.logging.options, name).toEqual({ 'max-size': '10m', 'max-file': '5' })
    expect('CACHE_DIR' in (service.environment ?? {}), name).toBe(name === 'worker')
  }
})

test('Flux never deletes a Namespace of ours, in which Secrets were made by hand', () => {
  const files = globSync('deploy/**/*.yaml', { cwd: ROOT })
  const namespaces = files
    .flatMap(file => parseAllDocuments(read(file)).map(document => ({ file, object: document.toJSON() })))
    .filter(({ object }) => object?.kind === 'Namespace')
    // applied by hand
    .filter(({ file }) => !/worker-rbac|installer/.test(file))
  expect(namespaces.length).toBe(2)
  for (const { object } of namespaces)
    expect(object.metadata.annotations).toEqual({ 'kustomize.toolkit.fluxcd.io/prune': 'disabled' })
})

describe('alerts', () => {
  const rules: Manifest[] = parse(read('deploy/monitoring/common/alerts.yaml')).spec.groups[0].rules

  test('are those of the page', () => {
    const table = [
      ...read('docs/monitoring.md').matchAll(/^\| `([^`]+)`(?: for (\d+) minutes)? \| [^|]+ \| [^|]+ \|$/gm),
    ]
    const listed = table.filter(([row]) => /[<>=] ?\d|absent/.test(row)).map(([, expr]) => expr)
    expect(listed).toEqual(rules.map(({ expr }) => expr))
  })

  test('ask for metrics and labels that a process has, and for nothing that a stranger sends', async () => {
    const config = readConfig(environment({ METRICS_TOKEN: 'a-token-of-the-tests' }))
    const { metrics, access } = openMetrics(config, new InProcessQueue(silentLog))
    metrics.githubAnswered({ method: 'GET', url: '/app', status: 200, installation: 1, remaining: 1 })
    metrics.verdictPublished('validate-push', 1)
    metrics.verdictReached('branch', 'error')
    metrics.deliveryFailed(401)
    const { text } = await access!.render()
    for (const { expr } of rules) {
      const used = [...expr.matchAll(/\b(bailiwick_\w+)(?:\{([^}]*)\})?/g)]
      for (const [, name = '', labels = ''] of used) {
        expect(text, name).toContain(`# TYPE ${name.replace(/_bucket$/, '')} `)
        for (const [, label, value] of labels.matchAll(/(\w+)(?:=|!=)"(\w+)"/g)) {
          // Prometheus adds that one; kinds of jobs only stand there while there are jobs
          if (label !== 'namespace' && label !== 'state') expect(text).toContain(`${label}="${value}"`)
        }
      }
      expect(expr).not.toContain('bailiwick_deliveries_total')
    }
  })
})
