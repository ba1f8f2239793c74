import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { BailiwickError } from '../base/errors.ts'
import { removedWarning } from '../base/removed.ts'
import type { KmsKey } from '../kube/sops.ts'
import { normaliseUrl } from '../kube/source-address.ts'
import {
  onlyKeys,
  type RemoteServer,
  readKmsKeys,
  readRemoteServers,
  settingsMap,
  settingsText,
  wrongSetting,
} from './cluster-settings.ts'

/** One cluster as its operator bound it: what may be applied there comes from this repository, branch and path only. */
export interface ClusterBinding {
  readonly name: string
  /** Normalised address of the fleet repository. */
  readonly fleet: string
  readonly branch: string
  readonly path: string
  /** Absolute path; absent: the account of the pod that the worker runs in. */
  readonly kubeconfig?: string
  readonly context?: string
  /** Absolute path of the key of a worker that runs in the cluster and applies there; absent: a worker of the site does. */
  readonly workerKey?: string
  readonly mode: 'gate' | 'reconcile'
  /** The worker's own namespace on that cluster. */
  readonly namespace: string
  /** How often the cluster is looked at without an event; absent: RESYNC_SECONDS. */
  readonly resyncSeconds?: number
  /** Address of its notification-controller, which gets the events that Flux would send; absent: none are sent. */
  readonly events?: string
  /** How changes by others on the cluster are found: by watches (absent), or by polling. */
  readonly drift?: 'watch' | 'poll'
  /** Whether corrected drift is shown on the page of the cluster and on pull requests; absent: it is. */
  readonly reportDrift?: boolean
  /** How often everything is looked at, whatever is known of it; absent: 600 where it is watched, else as `resyncSeconds`. */
  readonly fullPassSeconds?: number
  /** How many Kustomizations are applied at once; absent: 16. */
  readonly lanes?: number
  /** API servers that `spec.kubeConfig` of its Kustomizations may lead to; absent: none. */
  readonly kubeConfigs?: readonly RemoteServer[]
  /** Keys of services by which its Kustomizations may be decrypted; absent: none. */
  readonly kmsKeys?: readonly KmsKey[]
}

/** Receives the warnings for settings that were removed. */
type Warn = (text: string) => void

const KEYS = [
  'name',
  'fleet',
  'branch',
  'path',
  'kubeconfig',
  'context',
  'workerKey',
  'mode',
  'namespace',
  'resync',
  'drift',
  'reportDrift',
  'fullPass',
  'lanes',
  'events',
  'kubeConfigs',
  'kmsKeys',
]
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/**
 * The operator's clusters.yaml: `clusters:`, a list with `name`, `fleet`, and optionally `branch` (main), `path` (the folder
 * that Flux starts from, clusters/<name>; `./` is the root), `kubeconfig`, `context`, `workerKey` (file), `mode` (gate), `namespace`
 * (bailiwick-system), `resync` (seconds, RESYNC_SECONDS), `drift` (watch), `reportDrift` (true),
 * `fullPass` (seconds), `lanes` (16), `events` (address of notification-controller, none), `kubeConfigs` (API
 * servers that kubeconfigs may lead to, none), `kmsKeys` (keys of services by which Kustomizations may be decrypted, none).
 * Whether the fleet has the cluster there is seen where it is applied.
 * Throws `config` naming file and key for anything else; `warn` gets one text for each key that was removed.
 */
export function readClustersFile(file: string, warn?: Warn): ClusterBinding[] {
  try {
    return parseClusters(readFileSync(file, 'utf8'), file, warn)
  } catch (error) {
    if (error instanceof BailiwickError) throw error
    throw new BailiwickError('config', `${file} cannot be read: ${(error as Error).message}`, {
      fix: 'Set CLUSTERS_FILE to a file that this process can read.',
    })
  }
}

/** The same from text; `file` is named in messages and is what a relative kubeconfig is relative to. */
export function parseClusters(text: string, file: string, warn: Warn = () => {}): ClusterBinding[] {
  const document = parseDocument(text, { uniqueKeys: true })
  const problem = document.errors[0] ?? document.warnings[0]
  if (problem) throw new BailiwickError('config', `${file}: ${problem.message}`)
  const root: unknown = document.toJS({ maxAliasCount: 0 })
  const top = settingsMap(root, file, 'the file')
  onlyKeys(top, ['clusters'], file, '')
  const list = top.get('clusters')
  if (!Array.isArray(list)) throw wrongSetting(file, 'clusters', 'is not a list')
  const removed = new Set<string>()
  const bindings = list.map((item: unknown, index) => readBinding(item, `clusters[${index}]`, file, removed))
  for (const warning of removed) warn(`${file}: ${warning}`)
  for (const [index, { name }] of bindings.entries()) {
    if (bindings.findIndex(other => other.name === name) !== index) {
      throw wrongSetting(file, `clusters[${index}].name`, `${name} is bound twice`)
    }
  }
  return bindings
}

function assertOneApplier(map: ReadonlyMap<string, unknown>, mode: string, at: string, file: string): void {
  if (!map.has('workerKey') || (mode === 'reconcile' && !map.has('kubeconfig'))) return
  const what = 'stands beside `kubeconfig` or without `mode: reconcile`: who applies is not clear'
  throw wrongSetting(file, `${at}.workerKey`, what)
}

function readBinding(item: unknown, at: string, file: string, removed: Set<string>): ClusterBinding {
  const given = settingsMap(item, file, at)
  const map = new Map([...given].filter(([key]) => removedWarning(`${key} of clusters.yaml`) === undefined))
  for (const key of given.keys()) if (!map.has(key)) removed.add(removedWarning(`${key} of clusters.yaml`)!)
  onlyKeys(map, KEYS, file, `${at}.`)
  const text = (key: string, fallback?: string): string => settingsText(map, key, { file, at, fallback })
  const name = text('name')
  if (!LABEL.test(name)) throw wrongSetting(file, `${at}.name`, `${name} is not lower-case letters, digits and "-"`)
  const fleet = normaliseUrl(text('fleet'))
  if (!/^https?:\/\/[^/]+\/.+/.test(fleet))
    throw wrongSetting(file, `${at}.fleet`, `${fleet} is not the address of a repository`)
  const path = folderOf(text('path', `clusters/${name}`))
  if (path === undefined) {
    throw wrongSetting(file, `${at}.path`, `${map.get('path')} is not a folder inside the repository`)
  }
  const mode = text('mode', 'gate')
  if (mode !== 'gate' && mode !== 'reconcile')
    throw wrongSetting(file, `${at}.mode`, `${mode} is neither gate nor reconcile`)
  const namespace = text('namespace', 'bailiwick-system')
  if (!LABEL.test(namespace)) throw wrongSetting(file, `${at}.namespace`, `${namespace} is not the name of a namespace`)
  const seconds = (key: string): number | undefined => {
    const value = map.get(key)
    if (value === undefined || isSeconds(value)) return value
    throw wrongSetting(file, `${at}.${key}`, `${String(value)} is not a whole number of seconds from 10 to 86400`)
  }
  const events = map.has('events') ? text('events') : undefined
  if (events !== undefined && !isAddress(events)) {
    throw wrongSetting(file, `${at}.events`, `${events} is not an http or https address without a user`)
  }
  const [resync, fullPass] = [seconds('resync'), seconds('fullPass')]
  assertOneApplier(map, mode, at, file)
  const lanes = map.get('lanes')
  if (lanes !== undefined && !isWhole(lanes, 1, 256)) {
    throw wrongSetting(file, `${at}.lanes`, `${String(lanes)} is not a whole number from 1 to 256`)
  }
  const drift = text('drift', 'watch')
  if (drift !== 'watch' && drift !== 'poll')
    throw wrongSetting(file, `${at}.drift`, `${drift} is neither watch nor poll`)
  return {
    name,
    fleet,
    branch: text('branch', 'main'),
    path,
    mode,
    namespace,
    ...(map.has('drift') ? { drift } : {}),
    ...switchOf(map, at, file),
    ...(lanes === undefined ? {} : { lanes }),
    ...(resync === undefined ? {} : { resyncSeconds: resync }),
    ...(fullPass === undefined ? {} : { fullPassSeconds: fullPass }),
    ...(map.has('kubeconfig') ? { kubeconfig: resolve(dirname(file), text('kubeconfig')) } : {}),
    ...(map.has('workerKey') ? { workerKey: resolve(dirname(file), text('workerKey')) } : {}),
    ...(map.has('context') ? { context: text('context') } : {}),
    ...(events === undefined ? {} : { events }),
    ...listsOf(map, name, at, file),
  }
}

function listsOf(
  map: ReadonlyMap<string, unknown>,
  name: string,
  at: string,
  file: string,
): Pick<ClusterBinding, 'kubeConfigs' | 'kmsKeys'> {
  const [servers, keys] = [map.get('kubeConfigs'), map.get('kmsKeys')]
  return {
    ...(map.has('kubeConfigs') ? { kubeConfigs: readRemoteServers(servers, name, `${at}.kubeConfigs`, file) } : {}),
    ...(map.has('kmsKeys') ? { kmsKeys: readKmsKeys(keys, `${at}.kmsKeys`, file) } : {}),
  }
}

function switchOf(map: ReadonlyMap<string, unknown>, at: string, file: string): Pick<ClusterBinding, 'reportDrift'> {
  const value = map.get('reportDrift')
  if (!isSwitch(value)) throw wrongSetting(file, `${at}.reportDrift`, `${String(value)} is neither true nor false`)
  return value === undefined ? {} : { reportDrift: value }
}

function isAddress(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.password === ''
}

/** A folder as the fleet names it, '' for the root of the repository (`./`); undefined for what may lead out of it. */
function folderOf(path: string): string | undefined {
  if (path === '.' || path === './') return ''
  const folder = path.replace(/^\.\//, '').replace(/\/+$/, '')
  return folder.split('/').some(part => ['', '.', '..'].includes(part)) ? undefined : folder
}

const isSwitch = (value: unknown): value is boolean | undefined => value === undefined || typeof value === 'boolean'

const isSeconds = (value: unknown): value is number => isWhole(value, 10, 86_400)

function isWhole(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
}
