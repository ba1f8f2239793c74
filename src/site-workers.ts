import { readFileSync } from 'node:fs'
import type { ContentToken } from './channel/cluster-work.ts'
import { parseWorkerKeys } from './channel/worker-keys.ts'
import { type ClusterBinding, readClustersFile } from './cluster/clusters-file.ts'
import type { Config } from './config.ts'
import { BailiwickError } from './errors.ts'
import { type App, openApp } from './github/client/app.ts'
import type { WorkStore } from './pages/work-store.ts'
import type { Log } from './process/log.ts'
import type { Queue } from './queue/queue.ts'
import { ClusterDoor } from './web/cluster-door.ts'

/** GitHub takes no longer list for one token. */
const REPOSITORIES_OF_A_TOKEN = 500
/** Whoever gets a token has at least this long to use it. */
const TOKEN_LASTS_MS = 600_000

/**
 * What the workers of clusters ask of the site; undefined where the operator's clusters.yaml names no key of one. Throws
 * `config` for a file that cannot be used.
 */
export function openSiteWorkers(
  config: Config,
  {
    queue,
    store,
    log,
  }: { readonly queue: Pick<Queue, 'add' | 'withLock'>; readonly store: WorkStore; readonly log: Log },
): ClusterDoor | undefined {
  const bindings = config.clustersFile === undefined ? [] : readClustersFile(config.clustersFile)
  const files = new Map(bindings.flatMap(({ name, workerKey }) => (workerKey === undefined ? [] : [[name, workerKey]])))
  if (files.size === 0) return undefined
  assertOwnKeys(bindings)
  const { appId, privateKey, githubApiUrl: baseUrl, allowedAccounts } = config
  const app = openApp({ appId, privateKey, baseUrl, allowedAccounts, log })
  return new ClusterDoor({
    store,
    keysOf: cluster => {
      const file = files.get(cluster)
      return file === undefined ? undefined : readKeys(file)
    },
    tokens: keptTokens(app),
    withLock: (key, work) => queue.withLock(key, work),
    onResults: cluster => queue.add('publish-results', { cluster }),
    log,
  })
}

/** Two clusters with one key could speak for each other. */
function assertOwnKeys(bindings: readonly ClusterBinding[]): void {
  const owners = new Map<string, string>()
  for (const { name, workerKey } of bindings) {
    for (const key of workerKey === undefined ? [] : readKeys(workerKey)) {
      const other = owners.get(key) ?? name
      owners.set(key, other)
      if (other === name) continue
      throw new BailiwickError('config', `the clusters ${other} and ${name} have the same workerKey`, {
        fix: 'Generate a key for each cluster with `openssl rand -hex 32`.',
      })
    }
  }
}

/** Read for each request: whoever replaces a key restarts nothing. */
function readKeys(file: string): readonly string[] {
  try {
    return parseWorkerKeys(readFileSync(file, 'utf8'), file)
  } catch (cause) {
    if (cause instanceof BailiwickError) throw cause
    throw new BailiwickError('config', `${file}, a workerKey of clusters.yaml, cannot be read`, {
      fix: 'Mount the file.',
    })
  }
}

/** The same tokens again while they last: whoever asks without end makes GitHub create no more. */
function keptTokens(app: Pick<App, 'contentToken'>) {
  const kept = new Map<string, ContentToken>()
  return async (installation: number, repositories: readonly number[]): Promise<readonly ContentToken[]> => {
    const ids = [...new Set(repositories)].sort((a, b) => a - b)
    const tokens: ContentToken[] = []
    for (let from = 0; from < ids.length; from += REPOSITORIES_OF_A_TOKEN) {
      const part = ids.slice(from, from + REPOSITORIES_OF_A_TOKEN)
      const key = JSON.stringify([installation, part])
      for (const [old, { expiresAt }] of kept) if (Date.parse(expiresAt) - TOKEN_LASTS_MS < Date.now()) kept.delete(old)
      const token = kept.get(key) ?? { ...(await app.contentToken(installation, part)), repositories: part }
      kept.set(key, token)
      tokens.push(token)
    }
    return tokens
  }
}
