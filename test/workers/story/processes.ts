import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type ClusterBinding, readClustersFile } from '../../../src/cluster/clusters-file.ts'
import { openQueue } from '../../../src/receive/bullmq-queue.ts'
import type { TestCluster } from '../../../tools/envtest/start.ts'
import type { FakeGitHub } from '../../../tools/github/start.ts'
import { built } from '../../repository/package/built.ts'
import { silentLog } from '../../repository/runner/silent-log.ts'
import { type Program, runProgram, untilReady } from '../app/run-program.ts'
import { freePort, startRedis, type TestRedis } from '../queue/start-redis.ts'
import { until } from '../queue/until.ts'
import { settingsOf } from './settings.ts'
import { openClusters, openGitHub } from './stage.ts'

/** The same world as on the stage, with the App as the image runs it: a web process and a worker process on one Redis. */
export interface Processes {
  readonly github: FakeGitHub
  readonly staging: TestCluster
  /** How the worker is bound to it. */
  readonly binding: ClusterBinding
  readonly redis: TestRedis
  /** The worker that was started last. */
  readonly worker: Program
  /** Starts what does not run; resolves when the web process answers and the worker works. */
  start(settings?: Readonly<Record<string, string>>): Promise<void>
  /** SIGKILL to every process of the App. */
  killAll(): Promise<void>
  /** SIGKILL to the worker alone. */
  killWorker(): Promise<void>
  /** Resolves when every delivery was answered and every job done, those included that come of them. */
  settle(): Promise<void>
  close(): Promise<void>
}

interface ProcessesOptions {
  /** What there is on GitHub before the App starts for the first time. */
  readonly prepare?: (github: FakeGitHub) => void
  /** Of kube-controller-manager, beside the API server; none by default. */
  readonly controllers?: readonly string[]
  /** The address at which the worker reaches this Redis; its own by default. */
  readonly redisOfWorker?: (redis: TestRedis) => Promise<string>
  /** How to run a program of dist, which writes to the first of the folders and reads the others; on this machine's Node by default. */
  readonly commandOf?: (program: 'web' | 'worker', folders: readonly string[]) => readonly string[]
}

/** Opens GitHub, the staging cluster and Redis; no process of the App runs yet. */
export async function openProcesses(options: ProcessesOptions = {}): Promise<Processes> {
  const { prepare, controllers, commandOf, redisOfWorker = async ({ url }) => url } = options
  const directory = mkdtempSync(join(tmpdir(), 'bailiwick-processes-'))
  const [github, clusters, redis, { folder }] = await Promise.all([
    openGitHub(),
    openClusters(['staging'], controllers ? { controllers } : {}),
    startRedis(),
    built(),
  ])
  prepare?.(github)
  const [web, health] = [await freePort(), await freePort()]
  const ofWorker = await redisOfWorker(redis)
  const environment: Record<string, string> = {
    ...settingsOf({ github, clusters, directory, options: { logLevel: 'info' } }),
    REDIS_URL: redis.url,
    JOB_LOCK_MS: '1000',
  }
  github.app.webhookUrl = `http://127.0.0.1:${web}/api/github/webhooks`
  const queue = openQueue({ redisUrl: redis.url, log: silentLog })
  const running = new Map<'web' | 'worker', Program>()
  const run = async (name: 'web' | 'worker', port: number, settings: Record<string, string>) => {
    if (running.has(name)) return
    const command = commandOf?.(name, [directory, dirname(clusters.staging!.workerKubeconfig)]) ?? [
      'node',
      join(folder, `dist/${name}.js`),
    ]
    const program = runProgram(command, { ...environment, ...settings, PORT: String(port) })
    running.set(name, program)
    await untilReady(`http://127.0.0.1:${port}/readyz`, program)
    if (name === 'worker') await until(() => isEnded(program) || program.said().includes('"working"'))
  }
  const kill = async (name: 'web' | 'worker') => {
    await running.get(name)?.end()
    running.delete(name)
  }
  return {
    github,
    staging: clusters.staging!,
    binding: readClustersFile(environment.CLUSTERS_FILE!).find(({ name }) => name === 'staging')!,
    redis,
    get worker() {
      return running.get('worker')!
    },
    start: async (settings = {}) => {
      await Promise.all([run('web', web, settings), run('worker', health, { REDIS_URL: ofWorker, ...settings })])
    },
    killAll: async () => {
      await Promise.all([kill('web'), kill('worker')])
    },
    killWorker: () => kill('worker'),
    settle: async () => {
      for (let before = -1; before !== github.requests.length; ) {
        before = github.requests.length
        await github.idle()
        await queue.idle()
      }
    },
    close: async () => {
      await Promise.all([kill('web'), kill('worker')])
      await queue.close(0)
      await Promise.all([github.close(), redis.stop(), clusters.staging!.stop()])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const isEnded = ({ process }: Program) => process.exitCode !== null || process.signalCode !== null
