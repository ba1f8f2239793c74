import { readFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type RegistryHost, registryHosts } from './cluster/registry-api.ts'
import { FLEET_NAME, type FleetName, parseFleetName } from './github/fleet-name.ts'
import {
  address,
  badVariable,
  type Environment,
  integer,
  isLoopbackHost,
  oneOf,
  optional,
  required,
} from './process/environment.ts'
import {
  readPrivateKey,
  readWebhookSecrets,
  readWebSettings,
  type WebhookSecrets,
  type WebSettings,
  writeProblem,
} from './process/settings.ts'

/** Settings of a process that runs jobs. Secrets are not enumerable: logs, JSON and spreads leave them out. */
export interface Config extends WebSettings {
  readonly appId: number
  /** PKCS#8 PEM; secret. */
  readonly privateKey: string
  /** May contain a password; secret. Absent: jobs are kept in this process. */
  readonly redisUrl: string | undefined
  /** Absolute path of the operator's clusters.yaml; absent: evaluate only. */
  readonly clustersFile: string | undefined
  /** Repositories that may evaluate others, as the operator names them. */
  readonly fleets: readonly FleetName[]
  /** Lower case. Absent: every account that installed the App. */
  readonly allowedAccounts: readonly string[] | undefined
  /** Registries that may be asked for artifacts; their credentials are secret. */
  readonly registries: readonly RegistryHost[]
  /** Without a slash at the end. */
  readonly githubApiUrl: string
  readonly cacheDir: string
  /** Limit of the files there. */
  readonly cacheMb: number
  readonly logLevel: string
  readonly resyncSeconds: number
  /** Percentage of a Kustomization's objects: deleting more at once needs an approval. */
  readonly pruneShare: number
  /** Fewer objects than this are deleted without an approval. */
  readonly pruneAtLeast: number
  /** Whether decisions are written to a branch of their fleet. */
  readonly trail: boolean
  /** Interval of the sweep, which finds open work after missed webhooks or a lost Redis. */
  readonly sweepSeconds: number
  /** How long a worker may be silent before another one takes its job; only with Redis. */
  readonly jobLockMs: number
  readonly renderThreads: number
  readonly renderTimeoutMs: number
  readonly renderHeapMb: number
  readonly host: string
  /** Port of the web server; a worker process serves only /healthz and /readyz there. 0: any free port. */
  readonly port: number
}

/** Settings of the web process. */
export interface WebConfig extends Config, WebhookSecrets {}

/** Settings of a worker process, which shares a Redis with the web process. */
interface WorkerConfig extends Config {
  readonly redisUrl: string
}

/** Settings of a worker in a cluster: nothing of the App, of Redis or of other clusters. */
export interface ClusterWorkerConfig extends ReturnType<typeof ofWorkers> {
  /** Names in clusters.yaml. */
  readonly clusters: readonly string[]
  readonly clustersFile: string
  /** Of the web process, without a slash at the end. */
  readonly webUrl: string
  /** Absolute path. */
  readonly workerKeyFile: string
  /** How often the web process is polled. */
  readonly pollSeconds: number
}

type ReadFile = (path: string) => string

const readText: ReadFile = path => readFileSync(path, 'utf8')

/**
 * Reads the settings of the web process, which includes workers if REDIS_URL is not set. Throws `config`, naming the
 * variable and the remedy, for a missing or wrong value.
 */
export function readConfig(env: Environment, readFile: ReadFile = readText, tryWrite = writeProblem): WebConfig {
  const config = { ...common(env, readFile), ...readWebhookSecrets(env) }
  // with Redis, only the workers evaluate
  if (config.redisUrl === undefined) assertWritable(config.cacheDir, tryWrite)
  return seal(config)
}

/** Reads the settings of a worker process: it needs REDIS_URL, but not the webhook secret. Throws `config`. */
export function readWorkerConfig(
  env: Environment,
  readFile: ReadFile = readText,
  tryWrite = writeProblem,
): WorkerConfig {
  required(env, 'REDIS_URL', 'set it to the Redis of the web process; without Redis the web process runs jobs itself')
  const settings = common(env, readFile)
  assertWritable(settings.cacheDir, tryWrite)
  return seal({ ...settings, redisUrl: settings.redisUrl ?? '' })
}

/** An attacker in a cluster must not find any of these there. */
const NOT_IN_A_CLUSTER = [
  'APP_ID',
  'PRIVATE_KEY',
  'PRIVATE_KEY_PATH',
  'WEBHOOK_SECRET',
  'WEBHOOK_SECRET_PREVIOUS',
  'CLIENT_SECRET',
  'REDIS_URL',
]

/**
 * Reads the settings of a worker that runs in the cluster that it applies to; undefined if WORKER_CLUSTERS is not set.
 * Throws `config` for a missing value, and for every secret that must not be in a cluster.
 */
export function readClusterWorkerConfig(
  env: Environment,
  readFile: ReadFile = readText,
  tryWrite = writeProblem,
): ClusterWorkerConfig | undefined {
  if (env.WORKER_CLUSTERS === undefined) return undefined
  const names = env.WORKER_CLUSTERS.split(',').map(name => name.trim())
  if (!names.every(name => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))) {
    const fix = 'write names of clusters.yaml separated by commas (production), or remove the variable'
    throw badVariable('WORKER_CLUSTERS', 'contains an entry that is not the name of a cluster', fix)
  }
  for (const name of NOT_IN_A_CLUSTER) {
    if (optional(env, name) === undefined) continue
    throw badVariable(
      name,
      'is set for a worker in a cluster',
      'remove it: this worker gets what it needs from WEB_URL',
    )
  }
  required(env, 'CLUSTERS_FILE', 'mount a clusters.yaml with the entries of WORKER_CLUSTERS')
  const { clustersFile, ...settings } = ofWorkers(env, readFile)
  assertWritable(settings.cacheDir, tryWrite)
  return seal({
    ...settings,
    clusters: [...new Set(names)],
    clustersFile: clustersFile ?? '',
    webUrl: webUrl(env),
    workerKeyFile: resolve(required(env, 'WORKER_KEY_FILE', 'mount the key that `workerKey` of clusters.yaml names')),
    pollSeconds: integer(env, 'WORKER_POLL_SECONDS', { min: 1, max: 3600, otherwise: 5 }),
  })
}

function webUrl(env: Environment): string {
  required(env, 'WEB_URL', 'set it to the address of the web process')
  const url = address(env, 'WEB_URL', ['https', 'http'])
  if (url?.protocol === 'https:' || (url && isLoopbackHost(url.hostname))) return url.href.replace(/\/+$/, '')
  throw badVariable('WEB_URL', 'would send the key unencrypted', 'use https; http is for this machine only')
}

function ofWorkers(env: Environment, readFile: ReadFile) {
  refuseRemoved(env)
  return {
    clustersFile: clustersFile(env, readFile),
    registries: registries(env, readFile),
    githubApiUrl: githubApiUrl(env),
    cacheDir: cacheDir(env),
    cacheMb: integer(env, 'CACHE_MB', { min: 512, max: 1_048_576, otherwise: 1024 }),
    logLevel: oneOf(env, 'LOG_LEVEL', ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'], 'info'),
    resyncSeconds: integer(env, 'RESYNC_SECONDS', { min: 1, max: 86_400, otherwise: 60 }),
    renderTimeoutMs: integer(env, 'RENDER_TIMEOUT_MS', { min: 100, max: 3_600_000, otherwise: 60_000 }),
    renderThreads: integer(env, 'RENDER_THREADS', { min: 1, max: 256, otherwise: availableParallelism() }),
    renderHeapMb: integer(env, 'RENDER_HEAP_MB', { min: 64, max: 65_536, otherwise: 1024 }),
    host: host(env),
    port: integer(env, 'PORT', { min: 0, max: 65_535, otherwise: 3000 }),
  }
}

/** Ignored, they would change what the process does without a word. */
const REMOVED = {
  REDIS_PREFIX: 'give each App a database of its own: redis://HOST:6379/1',
  VALUES_KEY_FILE: 'remove it',
}

function refuseRemoved(env: Environment): void {
  for (const [name, fix] of Object.entries(REMOVED)) {
    if (optional(env, name) !== undefined) throw badVariable(name, 'was removed from the settings', fix)
  }
}

function common(env: Environment, readFile: ReadFile): Config {
  return {
    appId: appId(env),
    privateKey: readPrivateKey(env, readFile),
    redisUrl: address(env, 'REDIS_URL', ['redis', 'rediss'])?.href,
    fleets: fleets(env),
    allowedAccounts: allowedAccounts(env),
    pruneShare: integer(env, 'PRUNE_SHARE', { min: 0, max: 100, otherwise: 30 }),
    pruneAtLeast: integer(env, 'PRUNE_AT_LEAST', { min: 1, max: 1_000_000, otherwise: 10 }),
    trail: oneOf(env, 'TRAIL', ['on', 'off'], 'on') === 'on',
    sweepSeconds: integer(env, 'SWEEP_SECONDS', { min: 1, max: 86_400, otherwise: 3600 }),
    jobLockMs: integer(env, 'JOB_LOCK_MS', { min: 1_000, max: 600_000, otherwise: 30_000 }),
    ...ofWorkers(env, readFile),
    ...readWebSettings(env),
  }
}

function appId(env: Environment): number {
  const fix = 'copy the "App ID" from the settings page of the GitHub App into APP_ID'
  const text = required(env, 'APP_ID', fix)
  if (!/^[1-9]\d{0,11}$/.test(text)) throw badVariable('APP_ID', 'is not a number', fix)
  return Number(text)
}

function clustersFile(env: Environment, readFile: ReadFile): string | undefined {
  const path = optional(env, 'CLUSTERS_FILE')
  if (path === undefined) return undefined
  try {
    readFile(path)
  } catch {
    throw badVariable(
      'CLUSTERS_FILE',
      'names a file that cannot be read',
      'mount the file, or remove the variable to evaluate only',
    )
  }
  return resolve(path)
}

// Set but empty is refused, as for ALLOWED_ACCOUNTS: a template that lost its value must not leave others the choice.
function fleets(env: Environment): readonly FleetName[] {
  if (env.FLEETS === undefined) return []
  const names = env.FLEETS.split(',').map(name => parseFleetName(name.trim()))
  if (names.every(name => name !== undefined)) return Object.freeze(names)
  const fix = `write ${FLEET_NAME}, separated by commas (acme/fleet,acme/edge#production), or remove the variable`
  throw badVariable('FLEETS', 'contains an entry that is not the name of a repository', fix)
}

// Set but empty is refused: a template that lost its value must not open the App to every account.
function allowedAccounts(env: Environment): readonly string[] | undefined {
  if (env.ALLOWED_ACCOUNTS === undefined) return undefined
  const names = env.ALLOWED_ACCOUNTS.split(',').map(name => name.trim().toLowerCase())
  if (names.every(name => /^[a-z\d][a-z\d_-]{0,99}$/.test(name))) return Object.freeze([...new Set(names)])
  const fix =
    'write account names separated by commas (acme,acme-labs), or remove the variable to allow every installation'
  throw badVariable('ALLOWED_ACCOUNTS', 'contains an entry that is not an account name', fix)
}

function registries(env: Environment, readFile: ReadFile): readonly RegistryHost[] {
  const list = optional(env, 'OCI_HOSTS')
  const file = optional(env, 'OCI_CREDENTIALS_FILE')
  if (list === undefined) return []
  const hosts = registryHosts(list, file === undefined ? undefined : credentials(file, readFile))
  if (hosts) return Object.freeze(hosts)
  const fix = 'write host names separated by commas (ghcr.io,registry.example.com:5000)'
  throw badVariable('OCI_HOSTS', 'contains an entry that is not a host', fix)
}

function credentials(path: string, readFile: ReadFile): string {
  try {
    return readFile(path)
  } catch {
    throw badVariable(
      'OCI_CREDENTIALS_FILE',
      'names a file that cannot be read',
      'mount the file, or remove the variable',
    )
  }
}

/** Root of the REST API from the environment; GitHub's own by default. Throws `config`. */
export function githubApiUrl(env: Environment): string {
  const url = address(env, 'GITHUB_API_URL', ['https', 'http'])
  if (url === undefined) return 'https://api.github.com'
  const here = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  if (url.protocol === 'https:' || here) return url.href.replace(/\/+$/, '')
  throw badVariable('GITHUB_API_URL', 'would send tokens unencrypted', 'use https; http is for this machine only')
}

const cacheDir = (env: Environment): string => resolve(optional(env, 'CACHE_DIR') ?? join(tmpdir(), 'bailiwick'))

/** Otherwise each job would fail with it. */
function assertWritable(folder: string, tryWrite: typeof writeProblem): void {
  const problem = tryWrite(join(folder, 'objects'))
  if (problem === undefined) return
  const fix = 'mount a volume that this user can write to, or set CACHE_DIR to such a folder'
  throw badVariable('CACHE_DIR', `names ${folder}, which cannot be written (${problem})`, fix)
}

function host(env: Environment): string {
  const value = optional(env, 'HOST') ?? '127.0.0.1'
  if (/^[A-Za-z0-9.:_-]{1,253}$/.test(value)) return value
  throw badVariable(
    'HOST',
    'is not a host name or an address',
    'use 127.0.0.1 behind a proxy on this machine, 0.0.0.0 in a container',
  )
}

const SECRETS = ['privateKey', 'webhookSecret', 'webhookSecretPrevious', 'redisUrl', 'clientSecret', 'metricsToken']

function seal<T extends object>(settings: T): Readonly<T> {
  for (const name of SECRETS.filter(name => name in settings)) {
    Object.defineProperty(settings, name, { enumerable: false })
  }
  return Object.freeze(settings)
}
