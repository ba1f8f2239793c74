import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { jsonAt, stringAt } from '../../src/cluster/json-at.ts'
import { readClusterWorkerConfig } from '../../src/config.ts'
import type { Json } from '../../src/kube/node.ts'
import { createLog } from '../../src/process/log.ts'
import { type ClusterWorkers, startClusterWorkers } from '../../workers/in-cluster/start-cluster-workers.ts'
import { run } from '../cli/run-main.ts'
import { startCluster, type TestCluster } from '../envtest/start.ts'
import { until } from '../queue/until.ts'
import { bootstrap } from './bootstrap.ts'
import { type Stage, type StageOptions, startStage } from './stage.ts'

const ROOT = join(import.meta.dirname, '../..')
const ACME = join(ROOT, 'test/fleets/acme')
const FLEET = [
  'fleet',
  '--url',
  'https://github.com/acme/fleet',
  '--repo',
  `https://github.com/acme/dev-team=${ACME}/dev-team`,
]
const ACCOUNT = '/api/v1/namespaces/bailiwick-system/serviceaccounts/bailiwick/token'
const TIMING = { duration: 4_000, renewDeadline: 3_000, retry: 200 }

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules?: readonly { readonly [field: string]: Json }[]
}

/** The site without any credential of the cluster, and a worker that has the cluster's account and no other. */
export interface InClusterWorld {
  readonly stage: Stage
  readonly cluster: TestCluster
  /** Environment of a worker in the cluster. */
  readonly environment: Record<string, string>
  readonly keyFile: string
  startWorker(more?: Readonly<Record<string, string>>): ClusterWorkers
  /** Until it holds, with every job done. */
  comesTo(holds: () => boolean | Promise<boolean>): Promise<void>
  close(): Promise<void>
}

/** What deploy/worker and `bailiwick worker-rbac` give, as objects; the latter complete the former. */
export async function workerManifests(): Promise<Manifest[]> {
  const deployed = await run(ROOT, 'render', 'deploy/worker', '-o', 'json')
  const printed = await run(ACME, 'worker-rbac', ...FLEET, '--cluster', 'staging')
  const ofFleet = parseAllDocuments(printed.stdout).map(document => document.toJS() as Manifest)
  const all = [...(JSON.parse(deployed.stdout) as Manifest[]), ...ofFleet]
  return [
    ...new Map(all.map(one => [`${one.kind} ${one.metadata.namespace ?? ''}/${one.metadata.name}`, one])).values(),
  ]
}

/** Applies one as an admin does. */
export async function applyManifest(cluster: TestCluster, manifest: Manifest): Promise<void> {
  const { apiVersion, kind, metadata } = manifest
  const plural = kind === 'NetworkPolicy' ? 'networkpolicies' : `${kind.toLowerCase()}s`
  const group = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  const within = metadata.namespace ? `/namespaces/${metadata.namespace}` : ''
  const path = `${group}${within}/${plural}/${metadata.name}?fieldManager=admin&force=true`
  const contentType = 'application/apply-patch+yaml'
  const { status, body } = await cluster.request('PATCH', path, manifest as unknown as Json, { contentType })
  if (status >= 300) throw new Error(`${kind} ${metadata.name}: ${JSON.stringify(body)}`)
}

/** `flags`: more of kube-apiserver. */
export async function openInCluster(
  options: StageOptions = {},
  flags: readonly string[] = [],
): Promise<InClusterWorld> {
  const directory = mkdtempSync(join(tmpdir(), 'bailiwick-in-cluster-'))
  const cluster = await startCluster({ workerRbac: false, flags })
  await bootstrap(cluster)
  await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: 'apps' } })
  for (const manifest of await workerManifests()) await applyManifest(cluster, manifest)
  const keyFile = join(directory, 'key')
  writeFileSync(keyFile, `${randomBytes(32).toString('hex')}\n`)
  const file = (name: string, text: string) => {
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  }
  const entry = '  - name: staging\n    fleet: https://github.com/acme/fleet\n    mode: reconcile\n'
  const site = file('clusters.yaml', `clusters:\n${entry}    workerKey: ${keyFile}\n`)
  const stage = await startStage({ ...options, settings: { CLUSTERS_FILE: site, ...options.settings } })
  const environment = {
    WORKER_CLUSTERS: 'staging',
    WEB_URL: stage.site.url,
    WORKER_KEY_FILE: keyFile,
    WORKER_POLL_SECONDS: '1',
    CLUSTERS_FILE: file('worker.yaml', `clusters:\n${entry}    kubeconfig: ${await kubeconfig(cluster, directory)}\n`),
    GITHUB_API_URL: stage.github.url,
    CACHE_DIR: join(directory, 'cache'),
    RESYNC_SECONDS: '3600',
    LOG_LEVEL: 'silent',
  }
  const workers: ClusterWorkers[] = []
  return {
    stage,
    cluster,
    environment,
    keyFile,
    startWorker: (more = {}) => {
      const config = readClusterWorkerConfig({ ...environment, ...more })!
      const worker = startClusterWorkers({
        config,
        log: createLog(config.logLevel),
        timing: TIMING,
        reportMs: 200,
        onEnd: error => {
          throw error
        },
      })
      workers.push(worker)
      return worker
    },
    comesTo: async holds => {
      await until(async () => {
        await stage.settle()
        return holds()
      }, 60_000)
      await stage.settle()
    },
    close: async () => {
      await Promise.all(workers.map(worker => worker.close()))
      await stage.close()
      await cluster.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** With a token of the worker's account by TokenRequest, in a file as the kubelet writes it. */
async function kubeconfig(cluster: TestCluster, directory: string): Promise<string> {
  const { body } = await cluster.request('POST', ACCOUNT, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 3600 },
  })
  writeFileSync(join(directory, 'token'), `${stringAt(body, 'status', 'token')}\n`, { mode: 0o600 })
  const admin: Json = JSON.parse(readFileSync(cluster.adminKubeconfig, 'utf8'))
  const config = { ...(admin as object), users: [{ name: 'admin', user: { tokenFile: 'token' } }] }
  writeFileSync(join(directory, 'kubeconfig'), JSON.stringify(config))
  return join(directory, 'kubeconfig')
}

/** What the site offers to the worker of staging. */
export async function fetchWork(environment: Readonly<Record<string, string>>): Promise<Json> {
  const headers = { authorization: `Bearer ${readFileSync(environment.WORKER_KEY_FILE!, 'utf8').trim()}` }
  const response = await fetch(`${environment.WEB_URL}/api/clusters/staging/work`, { headers })
  if (!response.ok) throw new Error(`work: ${response.status}`)
  const work = (await response.json()) as Json
  if (jsonAt(work, 'cluster') !== 'staging') throw new Error('the work is of another cluster')
  return work
}
