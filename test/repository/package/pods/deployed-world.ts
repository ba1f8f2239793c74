import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ARCHITECTURES } from '../../../../build/image/architecture.ts'
import { writeImage } from '../../../../build/image/write-image.ts'
import { itemsAt, jsonAt } from '../../../../src/cluster/json.ts'
import { openQueue } from '../../../../src/receive/bullmq-queue.ts'
import { startCluster, type TestCluster } from '../../../../tools/envtest/start.ts'
import type { FakeGitHub } from '../../../../tools/github/start.ts'
import { run } from '../../../surface/cli/run-main.ts'
import { freePort } from '../../../workers/queue/start-redis.ts'
import { until } from '../../../workers/queue/until.ts'
import { bootstrap } from '../../../workers/story/bootstrap.ts'
import { applyManifest, workerManifests } from '../../../workers/story/in-cluster-world.ts'
import { openGitHub } from '../../../workers/story/stage.ts'
import { silentLog } from '../../runner/silent-log.ts'
import { unpackImage } from '../unpack-image.ts'
import { Kubelet } from './kubelet.ts'
import { asJson, type Manifest, type Pod } from './manifest.ts'
import { allows, type End } from './network-policy.ts'
import { redisRoot } from './redis-root.ts'
import type { Reachable } from './sandbox.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const HERE = ARCHITECTURES.find(({ npm }) => npm === process.arch)!
const APP = 'bailiwick'
const SYSTEM = 'bailiwick-system'
const REDIS_POD = 'bailiwick-redis-0'
const CONTROLLERS = [
  'deployment-controller',
  'replicaset-controller',
  'statefulset-controller',
  'root-ca-certificate-publisher-controller',
]
const ENTRY = '  - name: staging\n    fleet: https://github.com/acme/fleet\n    mode: reconcile\n'
/** Outside of the cluster, for NetworkPolicies. */
const OF_GITHUB = '140.82.112.3'
const OF_INGRESS = '203.0.113.10'

/** deploy/app and deploy/worker on one API server, with the image's processes and Redis as their pods, GitHub beside it. */
export interface DeployedWorld {
  readonly github: FakeGitHub
  readonly cluster: TestCluster
  readonly kubelet: Kubelet
  /** What was applied of deploy/. */
  readonly manifests: readonly Manifest[]
  /** Address of the web process, behind the Ingress. */
  readonly url: string
  /** Until it holds, with every delivery answered and every job done. */
  comesTo(holds: () => boolean | Promise<boolean>): Promise<void>
  close(): Promise<void>
}

/** `flags`: of kube-apiserver. */
export async function openDeployed(flags: readonly string[]): Promise<DeployedWorld> {
  const directory = mkdtempSync(join(tmpdir(), 'bailiwick-deployed-'))
  const image = join(directory, 'image')
  const [github, cluster] = await Promise.all([
    openGitHub(),
    startCluster({ workerRbac: false, flags, controllers: CONTROLLERS }),
    writeImage(join(directory, 'layout'), [HERE]),
  ])
  const { config } = unpackImage(join(directory, 'layout'), HERE.oci, image)
  const [ingressPort, redisPort] = [await freePort(), await freePort()]
  const variables = Object.fromEntries(config.Env.map(text => text.split(/=(.*)/s).slice(0, 2)))
  const url = `http://127.0.0.1:${ingressPort}`
  const password = randomBytes(16).toString('hex')
  const manifests = await renderOverlays(directory, { GITHUB_API_URL: github.url, WEB_URL: url })
  await prepareCluster(cluster)
  await createSecrets(cluster, github, password)
  for (const manifest of namespacesFirst(manifests)) await applyManifest(cluster, manifest as never)
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy')
  const kubelet = new Kubelet({
    cluster,
    folder: directory,
    imageOf: name => {
      if (!name.startsWith('redis:')) return { root: image, env: variables, workdir: config.WorkingDir }
      return { root: redisRoot(join(directory, 'redis-image')), env: { PATH: '/usr/bin' }, workdir: '/data' }
    },
    network: async pod => {
      const from: End = { pod, namespaceLabels: { 'kubernetes.io/metadata.name': pod.metadata.namespace! } }
      const redisPod: End = { pod: await redisPodOf(cluster), namespaceLabels: { 'kubernetes.io/metadata.name': APP } }
      const local = (port: number) => () => ({ host: '127.0.0.1' as const, port })
      const ends: readonly { end: End; port: number; at: Reachable }[] = [
        { end: { ip: '10.0.0.1' }, port: 443, at: { host: '10.0.0.1', port: 443, to: local(portOf(cluster.url)) } },
        { end: redisPod, port: 6379, at: { host: '10.0.0.2', port: 6379, to: () => ({ path: redisSocket() }) } },
        {
          ...{ end: { ip: OF_GITHUB }, port: 443 },
          at: { host: '127.0.0.1', port: portOf(github.url), to: local(portOf(github.url)) },
        },
        {
          ...{ end: { ip: OF_INGRESS }, port: 443 },
          at: { host: '127.0.0.1', port: ingressPort, to: local(ingressPort) },
        },
      ]
      const reachable = ends.flatMap(({ end, port, at }) => (allows(policies, { from, to: end, port }) ? [at] : []))
      return { reachable, hosts: `127.0.0.1 localhost\n10.0.0.2 bailiwick-redis\n` }
    },
  })
  const redisSocket = (): string => {
    const running = kubelet.pods.find(({ pod }) => pod.metadata.name === REDIS_POD)
    if (running === undefined) throw new Error(`${REDIS_POD} does not run`)
    return running.sandbox.inbound(6379)
  }
  await kubelet.start(APP, 'bailiwick-redis', { kind: 'statefulsets' })
  const door = await openDoor(redisPort, redisSocket)
  const ingress = await openIngress(ingressPort, manifests, kubelet, policies)
  github.app.webhookUrl = `${url}/api/github/webhooks`
  const queue = openQueue({ redisUrl: `redis://:${password}@127.0.0.1:${redisPort}`, log: silentLog })
  const settle = async () => {
    for (let before = -1; before !== github.requests.length; ) {
      before = github.requests.length
      await github.idle()
      await queue.idle()
    }
  }
  return {
    ...{ github, cluster, kubelet, manifests, url },
    comesTo: async holds => {
      await until(async () => {
        await settle()
        return holds()
      }, 90_000)
      await settle()
    },
    close: async () => {
      await queue.close(0)
      await kubelet.close()
      for (const server of [ingress, door]) await new Promise(resolve => server.close(resolve))
      await Promise.all([github.close(), cluster.stop()])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const portOf = (url: string) => Number(new URL(url).port)

const namespacesFirst = (manifests: readonly Manifest[]) =>
  [...manifests].sort((a, b) => Number(b.kind === 'Namespace') - Number(a.kind === 'Namespace'))

/** What an operator writes beside deploy/: the settings of this place. */
async function renderOverlays(
  directory: string,
  { GITHUB_API_URL, WEB_URL }: Readonly<Record<'GITHUB_API_URL' | 'WEB_URL', string>>,
): Promise<Manifest[]> {
  cpSync(join(ROOT, 'deploy'), join(directory, 'deploy'), { recursive: true })
  const overlay = (name: string, more: object, clusters: string) => {
    const folder = join(directory, name)
    mkdirSync(folder)
    const kustomization = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', ...more }
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization))
    writeFileSync(join(folder, 'clusters.yaml'), `clusters:\n${clusters}`)
  }
  const literals = [
    `PUBLIC_URL=${WEB_URL}`,
    'ALLOWED_ACCOUNTS=acme',
    `GITHUB_API_URL=${GITHUB_API_URL}`,
    'TRAIL=off',
    'PRUNE_SHARE=100',
  ]
  const clustersOf = (more: object) => ({
    name: 'bailiwick-clusters',
    behavior: 'replace',
    files: ['clusters.yaml'],
    ...more,
  })
  overlay(
    'platform',
    {
      namespace: APP,
      resources: ['../deploy/app'],
      components: ['../deploy/redis'],
      configMapGenerator: [{ name: 'bailiwick-settings', behavior: 'merge', literals }, clustersOf({})],
    },
    `${ENTRY}    workerKey: staging.key\n`,
  )
  const env = { WORKER_CLUSTERS: 'staging', WEB_URL, GITHUB_API_URL, WORKER_POLL_SECONDS: '1', PRUNE_SHARE: '100' }
  const container = { name: 'worker', env: Object.entries(env).map(([name, value]) => ({ name, value })) }
  const patch = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'bailiwick-worker', namespace: SYSTEM } }
  overlay(
    'staging',
    {
      resources: ['../deploy/worker'],
      patches: [{ patch: JSON.stringify({ ...patch, spec: { template: { spec: { containers: [container] } } } }) }],
      configMapGenerator: [clustersOf({ namespace: SYSTEM })],
    },
    ENTRY,
  )
  const rendered = await Promise.all(['platform', 'staging'].map(name => run(directory, 'render', name, '-o', 'json')))
  for (const { code, stderr } of rendered) if (code !== 0) throw new Error(stderr)
  return rendered.flatMap(({ stdout }) => JSON.parse(stdout) as Manifest[])
}

/** What an admin does once: flux bootstrap, the namespace of a tenant, and what `bailiwick worker-rbac` prints for the fleet. */
async function prepareCluster(cluster: TestCluster): Promise<void> {
  await bootstrap(cluster)
  for (const name of ['apps', APP, SYSTEM]) await cluster.request('POST', '/api/v1/namespaces', { metadata: { name } })
  for (const one of await workerManifests())
    if (/^(Cluster)?Role(Binding)?$/.test(one.kind)) await applyManifest(cluster, one)
}

async function createSecrets(cluster: TestCluster, { app }: FakeGitHub, password: string): Promise<void> {
  const key = `${randomBytes(32).toString('hex')}\n`
  const secrets: readonly (readonly [string, string, Record<string, string>])[] = [
    [
      APP,
      'bailiwick',
      {
        APP_ID: String(app.id),
        WEBHOOK_SECRET: app.webhookSecret,
        REDIS_URL: `redis://:${password}@bailiwick-redis:6379`,
        METRICS_TOKEN: 'a-token-of-the-tests-0123456789',
        'private-key.pem': app.privateKey,
      },
    ],
    [APP, 'bailiwick-files', { 'staging.key': key }],
    [APP, 'bailiwick-redis', { 'redis.conf': `requirepass ${password}\n`, password }],
    [SYSTEM, 'bailiwick-worker-key', { key }],
  ]
  for (const [namespace, name, stringData] of secrets) {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData }
    const { status, body } = await cluster.request('POST', `/api/v1/namespaces/${namespace}/secrets`, asJson(secret))
    if (status !== 201) throw new Error(`Secret ${name}: ${JSON.stringify(body)}`)
  }
}

async function redisPodOf(cluster: TestCluster): Promise<Pod> {
  const path = `/api/v1/namespaces/${APP}/pods/${REDIS_POD}`
  await until(async () => (await cluster.request('GET', path)).status === 200, 60_000)
  return (await cluster.request('GET', path)).body as unknown as Pod
}

/** For the test, which looks into the queue of the App from outside. */
async function openDoor(port: number, socketOf: () => string): Promise<Server> {
  const server = createServer(near => {
    const far = connect({ path: socketOf() })
    const end = () => {
      near.destroy()
      far.destroy()
    }
    for (const one of [near, far]) one.on('error', end).on('close', end)
    near.pipe(far).pipe(near)
  })
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  return server
}

/** An ingress controller: connections go to the port of the Service, in turn to the pods that it selects. */
async function openIngress(
  port: number,
  manifests: readonly Manifest[],
  kubelet: Kubelet,
  policies: readonly Manifest[],
): Promise<Server> {
  const service = manifests.find(({ kind, metadata }) => kind === 'Service' && metadata.name === 'bailiwick-web')!
  const selector = Object.entries(jsonAt(asJson(service), 'spec', 'selector') as Record<string, string>)
  const target = jsonAt(itemsAt(asJson(service), 'spec', 'ports')[0], 'targetPort')
  let turn = 0
  const server = createServer(near => {
    const pods = kubelet.pods.filter(
      ({ pod: { metadata } }) =>
        metadata.namespace === APP && selector.every(([name, value]) => metadata.labels?.[name] === value),
    )
    const chosen = pods[turn++ % Math.max(pods.length, 1)]
    const named = chosen?.pod.spec.containers[0]?.ports?.find(({ name }) => name === target)
    const isAllowed = (pod: Pod, containerPort: number) =>
      allows(policies, { from: { ip: '10.128.9.9' }, to: { pod, namespaceLabels: {} }, port: containerPort })
    if (!chosen || !named || !isAllowed(chosen.pod, named.containerPort)) {
      near.resetAndDestroy()
      return
    }
    const far = connect({ path: chosen.sandbox.inbound(named.containerPort) })
    const end = () => {
      near.destroy()
      far.destroy()
    }
    for (const one of [near, far]) one.on('error', end).on('close', end)
    near.pipe(far)
    far.pipe(near)
  })
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  return server
}
