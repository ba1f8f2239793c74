import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { readConfig } from '../../../src/config.ts'
import type { Pace } from '../../../src/github/client/client-class.ts'
import { createLog } from '../../../src/process/log.ts'
import type { RetryPolicy } from '../../../src/receive/retry.ts'
import { startSite } from '../../../src/start-site.ts'
import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { startCluster, type TestCluster } from '../../../tools/envtest/start.ts'
import { type FakeGitHub, type GitHubOptions, startGitHub } from '../../../tools/github/start.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { hasRedis, keptRedis } from '../queue/start-redis.ts'
import { bootstrap } from './bootstrap.ts'
import { openKeptThread } from './kept-threads.ts'
import { settingsOf } from './settings.ts'
import { hasten, startWithWorkers } from './several-workers.ts'

type Site = Awaited<ReturnType<typeof startSite>>

export interface StageOptions {
  /** Clusters with a real API server that the worker reconciles; the others are evaluated only. */
  readonly clusters?: readonly ClusterName[]
  readonly disabledRules?: readonly string[]
  /** How often a job is tried; as in production by default. */
  readonly retry?: RetryPolicy
  /** How writes to GitHub follow each other; by default as in production, a hundred times as fast. */
  readonly pace?: Pace
  /** How often the cluster is looked at without an event. */
  readonly resyncSeconds?: number
  readonly logLevel?: string
  /** Settings in place of the usual ones; undefined takes one away. */
  readonly settings?: Readonly<Record<string, string | undefined>>
  /** What there is on GitHub before the App starts for the first time. */
  readonly prepare?: (github: FakeGitHub) => void
  /** On a real Redis with several sets of workers, as operators run it; by default as the test run is started. */
  readonly redis?: boolean
}

/** The whole of it on one machine: a GitHub with acme's repositories, a cluster, and the App between them, over HTTP. */
export interface Stage {
  readonly github: FakeGitHub
  readonly clusters: Clusters
  readonly site: Site
  readonly directory: string
  /** The environment that the App's process is started with. */
  readonly environment: Record<string, string>
  /** Resolves when every delivery was answered and every job done, those included that come of them. */
  settle(): Promise<void>
  /** Ends the App's process as a crash does, without waiting for anything, and starts a new one with other settings. */
  restart(options?: Pick<StageOptions, 'disabledRules'>): Promise<void>
  close(): Promise<void>
}

export const CLUSTERS = ['staging', 'production'] as const
type ClusterName = (typeof CLUSTERS)[number]
export type Clusters = Partial<Readonly<Record<ClusterName, TestCluster>>>

export const REPOSITORIES = ['acme/fleet', 'acme/dev-team', 'acme/ops-team'] as const

/** Ada administers the platform, Dora and Otto belong to the teams, Mallory may read and comment. */
export async function startStage(options: StageOptions = {}): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'bailiwick-stage-'))
  const [github, clusters, redis] = await Promise.all([
    openGitHub(),
    openClusters(options.clusters ?? []),
    openRedis(options),
  ])
  options.prepare?.(github)
  const environment = defined({
    ...settingsOf({ github, clusters, directory, options }),
    ...(redis ? { REDIS_URL: redis.url } : {}),
    ...options.settings,
  })
  let site = await open(environment, options)
  github.app.webhookUrl = `${site.url}/api/github/webhooks`
  return {
    github,
    clusters,
    directory,
    environment,
    get site() {
      return site
    },
    settle: () => settle(github, () => site),
    restart: async (changed = {}) => {
      await site.close(0)
      site = await open(environment, { ...options, ...changed })
      github.app.webhookUrl = `${site.url}/api/github/webhooks`
    },
    close: async () => {
      await site.close(5_000)
      await github.close()
      await Promise.all([...Object.values(clusters).map(cluster => cluster.stop()), redis?.stop()])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const defined = (settings: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(settings).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** Tests that chose nothing run as vitest.config.ts says; those of the second way leave themselves out without Redis. */
async function openRedis({ redis = process.env.BAILIWICK_STAGE === 'redis' }: StageOptions) {
  return redis && hasRedis ? keptRedis() : undefined
}

async function open(environment: Record<string, string>, options: StageOptions): Promise<Site> {
  if (environment.REDIS_URL !== undefined) return startWithWorkers(environment, options)
  const config = readConfig(environment)
  const site = await startSite(config, createLog(config.logLevel), { ...options, openThread: openKeptThread })
  hasten(site.queue)
  return site
}

/** GitHub with the repositories of acme, the App installed and no hook address yet. */
export async function openGitHub(options: Omit<GitHubOptions, 'app'> = {}, granted: object = {}): Promise<FakeGitHub> {
  const github = await startGitHub({ checkResponses: true, ...options, app: manifest(granted) })
  github.addOrganization('acme', { admins: ['ada'], members: ['mallory'] })
  const roles = {
    'acme/fleet': { ada: 'admin', otto: 'write' },
    'acme/dev-team': { ada: 'admin', dora: 'maintain' },
    'acme/ops-team': { ada: 'admin', otto: 'maintain' },
  } as const
  for (const repository of REPOSITORIES) {
    const name = repository.slice('acme/'.length)
    github.addRepository({ owner: 'acme', name, files: fleetFiles(repository), roles: roles[repository] })
    github.setProtection(repository, { checks: [{ context: CHECK_NAME, appId: github.app.id }] })
  }
  github.install(github.app, 'acme', 'all', 'ada')
  return github
}

/** Real API servers, as `flux bootstrap` leaves them. */
export async function openClusters(
  names: readonly ClusterName[],
  options: Parameters<typeof startCluster>[0] = {},
): Promise<Clusters> {
  const open = async (name: ClusterName) => {
    const cluster = await startCluster(options)
    await bootstrap(cluster)
    return [name, cluster] as const
  }
  return Object.fromEntries(await Promise.all(names.map(open)))
}

async function settle(github: FakeGitHub, site: () => Site): Promise<void> {
  for (let before = -1; before !== github.requests.length; ) {
    before = github.requests.length
    await github.idle()
    await site().queue.idle()
  }
}

/** What app.yml asks for, and no more than an operator grants besides: a call that needs more is refused here as it would be on GitHub. */
function manifest(granted: object) {
  const text = readFileSync(join(import.meta.dirname, '../../../app.yml'), 'utf8')
  const { default_permissions: permissions, default_events: events } = parse(text)
  return { permissions: { ...permissions, ...granted }, events }
}
