import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FakeGitHub } from '../../../tools/github/start.ts'
import { CLUSTERS, type Clusters, type StageOptions } from './stage.ts'

interface Scene {
  readonly github: FakeGitHub
  readonly clusters: Clusters
  readonly directory: string
  readonly options: StageOptions
}

/** What `npm start` would find in its environment. */
export function settingsOf({ github, clusters, directory, options }: Scene): Record<string, string> {
  return {
    APP_ID: String(github.app.id),
    PRIVATE_KEY: github.app.privateKey,
    WEBHOOK_SECRET: github.app.webhookSecret,
    GITHUB_API_URL: github.url,
    PORT: '0',
    CACHE_DIR: join(directory, 'cache'),
    CLUSTERS_FILE: writeClustersFile(directory, clusters),
    // tests replace all that a team has, and ask nobody; what waits for an approval is tested by itself
    PRUNE_SHARE: '100',
    RESYNC_SECONDS: String(options.resyncSeconds ?? 3600),
    LOG_LEVEL: options.logLevel ?? 'silent',
    ALLOWED_ACCOUNTS: 'acme',
    // a branch and requests of its own, which stories about something else do not count
    TRAIL: 'off',
  }
}

function writeClustersFile(directory: string, clusters: Clusters): string {
  const file = join(directory, 'clusters.yaml')
  const entries = CLUSTERS.map(name => {
    const cluster = clusters[name]
    const mode = cluster ? `\n    mode: reconcile\n    kubeconfig: ${cluster.workerKubeconfig}` : ''
    return `  - name: ${name}\n    fleet: https://github.com/acme/fleet${mode}\n`
  })
  writeFileSync(file, `clusters:\n${entries.join('')}`)
  return file
}
