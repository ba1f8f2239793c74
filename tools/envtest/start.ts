import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Json } from '../../src/kube/node.ts'
import { type Answer, adminRequest } from './admin-request.ts'
import { type Assets, findAssets, NO_ASSETS, NO_CONTROLLERS } from './assets.ts'
import { keptCluster, type Started } from './kept-clusters.ts'
import { freePorts } from './ports.ts'
import { type Program, startProgram } from './program.ts'
import { applyWorkerRbac } from './worker-rbac.ts'

/** One that ended is found at once; what only takes long has its time, on a machine that does much besides. */
const READY_MS = 180_000

/** A real kube-apiserver with RBAC on etcd; controllers only where they are asked for, no kubelet. */
export interface TestCluster {
  readonly url: string
  /** Paths of kubeconfig files: system:masters, and the worker's ordinary user `bailiwick`. */
  readonly adminKubeconfig: string
  readonly workerKubeconfig: string
  request(method: string, path: string, body?: Json, options?: RequestOptions): Promise<Answer>
  /** Kills the API server at once; etcd, and so the data, stays. */
  pause(): Promise<void>
  /** The API server comes back on the same port and data. */
  resume(): Promise<void>
  /** Ends both programs and removes their data. */
  stop(): Promise<void>
}

export interface RequestOptions {
  readonly impersonate?: string
  /** Groups of the impersonated user. */
  readonly groups?: readonly string[]
  readonly contentType?: string
}

/** `workerRbac` (default true): apply deploy/worker-rbac.yaml for the worker's user. */
interface StartOptions {
  readonly assets?: Assets
  readonly workerRbac?: boolean
  /** Controllers of kube-controller-manager to run beside it, as its `--controllers` names them; none by default. */
  readonly controllers?: readonly string[]
  /** More flags of kube-apiserver. */
  readonly flags?: readonly string[]
}

interface Place {
  readonly directory: string
  readonly ports: readonly [etcd: number, peer: number, secure: number]
  readonly tokens: { readonly admin: string; readonly worker: string }
}

/**
 * Starts etcd and kube-apiserver on free ports with an empty data directory; resolves when /readyz says so (about 2 s). One
 * without programs or flags of its own may be one that this process stopped before, empty again.
 */
export async function startCluster(options: StartOptions = {}): Promise<TestCluster> {
  const { workerRbac = true, ...own } = options
  const cluster =
    Object.keys(own).length === 0 ? await keptCluster(() => startFresh(own)) : (await startFresh(own)).cluster
  try {
    if (workerRbac) await applyWorkerRbac(cluster)
    return cluster
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

async function startFresh(options: StartOptions): Promise<Started> {
  const assets = options.assets ?? findAssets()
  if (!assets) throw new Error(NO_ASSETS)
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(assets, options)
    } catch (error) {
      // somebody else may have taken one of the ports between looking and listening
      if (attempt === 3 || !/address already in use/.test(String(error))) throw error
    }
  }
}

async function startOnce(assets: Assets, options: StartOptions): Promise<Started> {
  const place = await preparePlace()
  const clean = () => rmSync(place.directory, { recursive: true, force: true, maxRetries: 3 })
  process.once('exit', clean)
  const etcd = startEtcd(assets, place)
  const flags = options.flags ?? []
  let apiserver = startApiserver(assets, place, flags)
  let controllers: Program | undefined
  const url = `https://127.0.0.1:${place.ports[2]}`
  const request: TestCluster['request'] = (method, path, body, more) =>
    adminRequest({ url, ca: certificate(place), token: place.tokens.admin }, method, path, body, more)
  const ready = () => untilReady([etcd, apiserver], async () => (await request('GET', '/readyz')).status === 200)
  const stop = async () => {
    await controllers?.stop(0)
    await apiserver.stop(3000)
    await etcd.stop(3000)
    process.removeListener('exit', clean)
    clean()
  }
  try {
    await ready()
    const cluster: TestCluster = {
      url,
      adminKubeconfig: writeKubeconfig(place, 'admin'),
      workerKubeconfig: writeKubeconfig(place, 'worker'),
      request,
      pause: () => apiserver.stop(0),
      async resume() {
        apiserver = startApiserver(assets, place, flags)
        await ready()
      },
      stop,
    }
    if (options.controllers) controllers = startControllers(assets, place, cluster.adminKubeconfig, options.controllers)
    const unref = () => {
      for (const program of [etcd, apiserver]) program.process.unref()
    }
    return { cluster, etcd: `http://127.0.0.1:${place.ports[0]}`, unref }
  } catch (error) {
    await stop()
    throw error
  }
}

async function preparePlace(): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'bailiwick-envtest-'))
  mkdirSync(join(directory, 'certs'))
  const [etcd, peer, secure] = await freePorts(3)
  const tokens = { admin: randomBytes(16).toString('hex'), worker: randomBytes(16).toString('hex') }
  const csv = `${tokens.admin},admin,1,"system:masters"\n${tokens.worker},bailiwick,2\n`
  writeFileSync(join(directory, 'tokens.csv'), csv, { mode: 0o600 })
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  writeFileSync(join(directory, 'sa.pub'), publicKey)
  writeFileSync(join(directory, 'sa.key'), privateKey, { mode: 0o600 })
  return { directory, ports: [etcd!, peer!, secure!], tokens }
}

function startEtcd({ etcd }: Assets, { directory, ports: [client, peer] }: Place): Program {
  const [clients, peers] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`]
  const args = [
    `--data-dir=${join(directory, 'etcd')}`,
    `--listen-client-urls=${clients}`,
    `--advertise-client-urls=${clients}`,
    `--listen-peer-urls=${peers}`,
    `--initial-advertise-peer-urls=${peers}`,
    `--initial-cluster=default=${peers}`,
    '--unsafe-no-fsync',
  ]
  return startProgram(etcd, args, join(directory, 'etcd.log'), directory)
}

function startApiserver(
  { apiserver }: Assets,
  { directory, ports: [etcd, , secure] }: Place,
  flags: readonly string[],
): Program {
  const args = [
    `--etcd-servers=http://127.0.0.1:${etcd}`,
    `--secure-port=${secure}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--cert-dir=${join(directory, 'certs')}`,
    `--service-account-key-file=${join(directory, 'sa.pub')}`,
    `--service-account-signing-key-file=${join(directory, 'sa.key')}`,
    '--service-account-issuer=https://127.0.0.1',
    '--authorization-mode=RBAC',
    `--token-auth-file=${join(directory, 'tokens.csv')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    // without the token controller it would refuse every Pod
    '--disable-admission-plugins=ServiceAccount',
    '--allow-privileged',
    ...flags,
  ]
  return startProgram(apiserver, args, join(directory, 'kube-apiserver.log'))
}

function startControllers(
  { controllerManager }: Assets,
  { directory }: Place,
  kubeconfig: string,
  controllers: readonly string[],
): Program {
  if (!controllerManager) throw new Error(NO_CONTROLLERS)
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--controllers=${controllers.join(',')}`,
    `--service-account-private-key-file=${join(directory, 'sa.key')}`,
    // the root CA that its publisher writes to each namespace
    `--root-ca-file=${join(directory, 'certs', 'apiserver.crt')}`,
    '--use-service-account-credentials=false',
    '--leader-elect=false',
    // nobody asks it anything
    '--secure-port=0',
  ]
  return startProgram(controllerManager, args, join(directory, 'kube-controller-manager.log'))
}

/** The API server writes its self-signed certificate, authority included, into --cert-dir. */
function certificate({ directory }: Place): string {
  return readFileSync(join(directory, 'certs', 'apiserver.crt'), 'utf8')
}

async function untilReady(programs: readonly Program[], probe: () => Promise<boolean>): Promise<void> {
  for (const started = Date.now(); Date.now() - started < READY_MS; ) {
    const dead = programs.find(program => program.ended())
    if (dead) throw new Error(`${dead.process.spawnfile} ended while it started:\n${dead.output()}`)
    if (await probe().catch(() => false)) return
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(`the API server is not ready after ${READY_MS / 1000} s:\n${programs.at(-1)?.output()}`)
}

function writeKubeconfig(place: Place, user: 'admin' | 'worker'): string {
  const path = join(place.directory, `${user}.kubeconfig`)
  const ca = Buffer.from(certificate(place)).toString('base64')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'test', cluster: { server: `https://127.0.0.1:${place.ports[2]}`, 'certificate-authority-data': ca } },
    ],
    users: [{ name: user, user: { token: place.tokens[user] } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user } }],
    'current-context': 'test',
  }
  writeFileSync(path, JSON.stringify(config, null, 2), { mode: 0o600 })
  return path
}
