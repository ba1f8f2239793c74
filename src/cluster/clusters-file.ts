import { readFileSync } from 'node:fs'
import { parseDocument } from 'yaml'
import { BailiwickError } from '../base/errors.ts'
import { removedWarning } from '../base/removed.ts'
import type { KmsKey } from '../kube/sops.ts'
import { normaliseUrl } from '../kube/source-address.ts'
import { type RemoteServer, readKmsKeys, readRemoteServers, Settings } from './cluster-settings.ts'

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
  const top = new Settings(document.toJS({ maxAliasCount: 0 }), file, '')
  top.only(['clusters'])
  const list = top.list('clusters')
  const removed = new Set<string>()
  const bindings = list.map(one => readBinding(one, removed))
  for (const warning of removed) warn(`${file}: ${warning}`)
  for (const [index, { name }] of bindings.entries()) {
    if (bindings.findIndex(other => other.name === name) !== index)
      throw list[index]!.wrong('name', `${name} is bound twice`)
  }
  return bindings
}

function assertOneApplier(one: Settings, mode: string): void {
  if (!one.has('workerKey') || (mode === 'reconcile' && !one.has('kubeconfig'))) return
  throw one.wrong('workerKey', 'stands beside `kubeconfig` or without `mode: reconcile`: who applies is not clear')
}

const SECONDS = [10, 86_400] as const

function readBinding(one: Settings, removed: Set<string>): ClusterBinding {
  const gone = one.keys().filter(key => removedWarning(`${key} of clusters.yaml`) !== undefined)
  for (const key of gone) removed.add(removedWarning(`${key} of clusters.yaml`)!)
  one.only(KEYS, gone)
  const name = one.text('name')
  if (!LABEL.test(name)) throw one.wrong('name', `${name} is not lower-case letters, digits and "-"`)
  const fleet = normaliseUrl(one.text('fleet'))
  if (!/^https?:\/\/[^/]+\/.+/.test(fleet)) throw one.wrong('fleet', `${fleet} is not the address of a repository`)
  const path = folderOf(one.text('path', `clusters/${name}`))
  if (path === undefined) throw one.wrong('path', `${one.text('path')} is not a folder inside the repository`)
  const mode = eitherOf(one, 'mode', ['gate', 'reconcile'])
  const namespace = one.text('namespace', 'bailiwick-system')
  if (!LABEL.test(namespace)) throw one.wrong('namespace', `${namespace} is not the name of a namespace`)
  const resyncSeconds = one.wholeNumber('resync', SECONDS, 'of seconds ')
  const fullPassSeconds = one.wholeNumber('fullPass', SECONDS, 'of seconds ')
  const lanes = one.wholeNumber('lanes', [1, 256])
  assertOneApplier(one, mode)
  const drift = eitherOf(one, 'drift', ['watch', 'poll'])
  const reportDrift = one.value('reportDrift')
  if (reportDrift !== undefined && typeof reportDrift !== 'boolean')
    throw one.wrong('reportDrift', `${String(reportDrift)} is neither true nor false`)
  const given: ClusterBinding = { name, fleet, branch: one.text('branch', 'main'), path, mode, namespace }
  const settings = {
    drift: one.has('drift') ? drift : undefined,
    reportDrift,
    lanes,
    resyncSeconds,
    fullPassSeconds,
    kubeconfig: one.has('kubeconfig') ? one.path('kubeconfig') : undefined,
    workerKey: one.has('workerKey') ? one.path('workerKey') : undefined,
    context: one.has('context') ? one.text('context') : undefined,
    events: one.has('events') ? addressOf(one, 'events') : undefined,
    kubeConfigs: one.has('kubeConfigs') ? readRemoteServers(one, name) : undefined,
    kmsKeys: one.has('kmsKeys') ? readKmsKeys(one) : undefined,
  }
  return Object.assign(given, Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)))
}

/** One of two words; the first is the default. */
function eitherOf<const T extends string>(one: Settings, key: string, words: readonly [T, T]): T {
  const value = one.text(key, words[0])
  const found = words.find(word => word === value)
  if (found === undefined) throw one.wrong(key, `${value} is neither ${words.join(' nor ')}`)
  return found
}

function addressOf(one: Settings, key: string): string {
  const text = one.text(key)
  const url = URL.parse(text)
  if (url && ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.password === '') return text
  throw one.wrong(key, `${text} is not an http or https address without a user`)
}

/** A folder as the fleet names it, '' for the root of the repository (`./`); undefined for what may lead out of it. */
function folderOf(path: string): string | undefined {
  if (path === '.' || path === './') return ''
  const folder = path.replace(/^\.\//, '').replace(/\/+$/, '')
  return folder.split('/').some(part => ['', '.', '..'].includes(part)) ? undefined : folder
}
