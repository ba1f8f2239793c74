import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { jsonAt, stringAt } from '../../../src/cluster/json.ts'
import { readClusterWorkerConfig } from '../../../src/config.ts'
import type { Json } from '../../../src/kube/node.ts'
import { createLog } from '../../../src/process/log.ts'
import { startCluster, type TestCluster } from '../../../tools/envtest/start.ts'
import { startClusterWorkers } from '../../../workers/apply/run-in-cluster.ts'
import { run } from '../../surface/cli/run-main.ts'
import { until } from '../queue/until.ts'
import { bootstrap } from './bootstrap.ts'
import { type Stage, type StageOptions, startStage } from './stage.ts'

type ClusterWorkers = ReturnType<typeof startClusterWorkers>

const ROOT = join(import.meta.dirname, '../../..')
const ACME = join(ROOT, 'test/fleet/fleets/acme')
const ACCOUNT = '/api/v1/namespaces/bailiwick-system/serviceaccounts/bailiwick/token'
const TIMING = { duration: 4_000, renewDeadline: 3_000, retry: 200 }

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules?: readonly { readonly [field: string]: Json }[]
}

/** A cluster whose worker has the cluster's account and no other. */
export interface WorkedCluster {
  readonly cluster: TestCluster
  /** Environment of a worker in the cluster. */
  readonly environment: Record<string, string>
  readonly keyFile: string
  startWorker(more?: Readonly<Record<string, string>>): ClusterWorkers
}

/** The site without any credential of a cluster, and clusters with workers of their own; the first one by itself too. */
export interface InClusterWorld extends WorkedCluster {
  readonly stage: Stage
  readonly clusters: ReadonlyMap<string, WorkedCluster>
  /** Until it holds, with every job done. */
  comesTo(holds: () => boolean | Promise<boolean>): Promise<void>
  close(): Promise<void>
}

export interface WorldOptions extends StageOptions {
  /** More flags of kube-apiserver. */
  readonly flags?: readonly string[]
  /** By default staging alone. */
  readonly names?: readonly string[]
  /** Files of acme/fleet in place of its own. */
  readonly fleet?: Readonly<Record<string, string>>
  /** Files that it gets later; the rights of the workers are already those that it needs then. */
  readonly later?: Readonly<Record<string, string>>
  /** More of a cluster's entry in clusters.yaml, on both sides. */
  readonly entry?: (name: string, servers: ReadonlyMap<string, TestCluster>) => string
}

/** What deploy/worker and `bailiwick worker-rbac` give, as objects; the latter complete the former. */
export async function workerManifests(cluster = 'staging', acme = ACME): Promise<Manifest[]> {
  const deployed = await run(ROOT, 'render', 'deploy/worker', '-o', 'json')
  const fleet = ['fleet', '--url', 'https://github.com/acme/fleet']
  const team = `--repo=https://github.com/acme/dev-team=${acme}/dev-team`
  const printed = await run(acme, 'worker-rbac', ...fleet, team, '--cluster', cluster)
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

export async function openInCluster(options: WorldOptions = {}): Promise<InClusterWorld> {
  const { flags = [], names = ['staging'], fleet = {}, later = {}, entry = () => '', ...staged } = options
  const directory = mkdtempSync(join(tmpdir(), 'bailiwick-in-cluster-'))
  const acme = acmeWith(directory, { ...fleet, ...later })
  const servers = new Map<string, TestCluster>()
  const started = names.map(async name => [name, await startServer(await workerManifests(name, acme), flags)] as const)
  for (const [name, server] of await Promise.all(started)) servers.set(name, server)
  const keyFileOf = (name: string) => join(directory, `${name}.key`)
  for (const name of names) writeFileSync(keyFileOf(name), `${randomBytes(32).toString('hex')}\n`)
  const entryOf = (name: string, more: string) =>
    `  - name: ${name}\n    fleet: https://github.com/acme/fleet\n    mode: reconcile\n    ${more}\n${entry(name, servers)}`
  const site = join(directory, 'clusters.yaml')
  writeFileSync(site, `clusters:\n${names.map(name => entryOf(name, `workerKey: ${keyFileOf(name)}`)).join('')}`)
  const stage = await startStage({
    ...staged,
    settings: { CLUSTERS_FILE: site, ...staged.settings },
    prepare: github => {
      if (Object.keys(fleet).length > 0) github.push({ repo: 'acme/fleet', files: fleet, as: 'ada' })
      staged.prepare?.(github)
    },
  })
  const workers: ClusterWorkers[] = []
  const clusters = new Map<string, WorkedCluster>()
  for (const [name, cluster] of servers) {
    const own = mkdtempSync(join(directory, `${name}-`))
    const clustersFile = join(own, 'clusters.yaml')
    writeFileSync(clustersFile, `clusters:\n${entryOf(name, `kubeconfig: ${await kubeconfig(cluster, own)}`)}`)
    const environment = environmentOf(stage, name, {
      keyFile: keyFileOf(name),
      clustersFile,
      cache: join(own, 'cache'),
    })
    const startWorker = (more: Readonly<Record<string, string>> = {}) => {
      const worker = startWorkerWith({ ...environment, ...more })
      workers.push(worker)
      return worker
    }
    clusters.set(name, { cluster, environment, keyFile: keyFileOf(name), startWorker })
  }
  return {
    ...clusters.get(names[0]!)!,
    stage,
    clusters,
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
      for (const server of servers.values()) await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function environmentOf(
  { site, github, environment }: Stage,
  name: string,
  { keyFile, clustersFile, cache }: Readonly<Record<'keyFile' | 'clustersFile' | 'cache', string>>,
): Record<string, string> {
  return {
    WORKER_CLUSTERS: name,
    WEB_URL: site.url,
    WORKER_KEY_FILE: keyFile,
    WORKER_POLL_SECONDS: '1',
    CLUSTERS_FILE: clustersFile,
    GITHUB_API_URL: github.url,
    CACHE_DIR: cache,
    RESYNC_SECONDS: '3600',
    LOG_LEVEL: 'silent',
    ...(environment.OCI_HOSTS === undefined ? {} : { OCI_HOSTS: environment.OCI_HOSTS }),
  }
}

/** The directory of acme's repositories, with some files of the fleet replaced. */
function acmeWith(directory: string, fleet: Readonly<Record<string, string>>): string {
  if (Object.keys(fleet).length === 0) return ACME
  const acme = join(directory, 'acme')
  cpSync(ACME, acme, { recursive: true })
  for (const [path, text] of Object.entries(fleet)) {
    mkdirSync(dirname(join(acme, 'fleet', path)), { recursive: true })
    writeFileSync(join(acme, 'fleet', path), text)
  }
  return acme
}

/** With what an admin does once. */
async function startServer(manifests: readonly Manifest[], flags: readonly string[]): Promise<TestCluster> {
  const server = await startCluster({ workerRbac: false, flags })
  await bootstrap(server)
  await server.request('POST', '/api/v1/namespaces', { metadata: { name: 'apps' } })
  for (const manifest of manifests) await applyManifest(server, manifest)
  return server
}

function startWorkerWith(environment: Readonly<Record<string, string>>): ClusterWorkers {
  const config = readClusterWorkerConfig(environment)!
  return startClusterWorkers({
    config,
    log: createLog(config.logLevel),
    timing: TIMING,
    reportMs: 200,
    onEnd: error => {
      throw error
    },
  })
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
