import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '../../surface/cli/run-main.ts'

const ROOT = join(import.meta.dirname, '../../..')
const directory = mkdtempSync(join(tmpdir(), 'bailiwick-monitors-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

type Labels = Readonly<Record<string, string>>
interface Pod {
  readonly metadata: { readonly labels: Labels }
  readonly spec: {
    readonly containers: readonly { readonly ports?: readonly { name: string; containerPort: number }[] }[]
  }
}
interface Endpoint {
  readonly port: string
  readonly path: string
  readonly authorization: { readonly credentials: { readonly name: string; readonly key: string } }
}
interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels?: Labels }
  readonly spec: {
    readonly template?: Pod
    readonly selector: Labels & { readonly matchLabels: Labels }
    readonly ports?: readonly { readonly name: string; readonly targetPort: string }[]
    readonly endpoints?: readonly Endpoint[]
    readonly podMetricsEndpoints?: readonly Endpoint[]
  }
}

beforeAll(() => cpSync(join(ROOT, 'deploy'), join(directory, 'deploy'), { recursive: true }))

async function overlay(...components: readonly string[]) {
  const folder = mkdtempSync(join(directory, 'overlay-'))
  const list = ['redis', ...components].map(name => `../deploy/${name}`)
  const kustomization = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', components: list }
  writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify({ ...kustomization, resources: ['../deploy/app'] }))
  const { code, stdout, stderr } = await run(directory, 'render', folder, '-o', 'json')
  return { code, stderr, all: code === 0 ? (JSON.parse(stdout) as Manifest[]) : [] }
}

const covers = (selector: Labels, labels: Labels = {}) =>
  Object.entries(selector).every(([name, value]) => labels[name] === value)
const podsOf = (all: readonly Manifest[], selector: Labels) =>
  all.filter(({ spec }) => spec?.template && covers(selector, spec.template.metadata.labels))
const APP = ['bailiwick-web', 'bailiwick-worker']

test('the ServiceMonitor finds web processes and workers by their Service, and not Redis', async () => {
  const { all } = await overlay('service-monitor')
  const monitor = all.find(({ kind }) => kind === 'ServiceMonitor')!
  const services = all.filter(
    ({ kind, metadata }) => kind === 'Service' && covers(monitor.spec.selector.matchLabels, metadata.labels),
  )
  expect(services.map(({ metadata }) => metadata.name)).toEqual(['bailiwick-metrics'])
  const [service] = services
  const found = podsOf(all, service!.spec.selector)
  expect(found.map(({ metadata }) => metadata.name).sort()).toEqual(APP)
  const [endpoint] = monitor.spec.endpoints!
  const port = service!.spec.ports!.find(({ name }) => name === endpoint!.port)!
  for (const { spec } of found) {
    expect(spec.template!.spec.containers[0]!.ports!.map(({ name }) => name)).toContain(port.targetPort)
  }
  expect(all.some(({ kind }) => kind === 'PodMonitor')).toBe(false)
})

test('both monitors ask for the same, behind the same token, from the same namespace', async () => {
  const [pods, services] = [await overlay('monitoring'), await overlay('service-monitor')]
  const monitor = pods.all.find(({ kind }) => kind === 'PodMonitor')!
  expect(
    podsOf(pods.all, monitor.spec.selector.matchLabels)
      .map(({ metadata }) => metadata.name)
      .sort(),
  ).toEqual(APP)
  const other = services.all.find(({ kind }) => kind === 'ServiceMonitor')!
  expect(other.spec.endpoints).toEqual(monitor.spec.podMetricsEndpoints)
  const policies = [pods, services].map(({ all }) => all.filter(({ kind }) => kind === 'NetworkPolicy'))
  expect(policies[1]).toEqual(policies[0])
})

test('both at once, which would read every number twice, are refused', async () => {
  const { code, stderr } = await overlay('monitoring', 'service-monitor')
  expect(code).toBe(2)
  expect(stderr).toMatch(/bailiwick-metrics/)
})
