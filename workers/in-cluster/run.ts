import type { ClusterWorkerConfig } from '../../src/config.ts'
import { createLog } from '../../src/process/log.ts'
import { stopOnSignal } from '../../src/process/stop-on-signal.ts'
import { startServer } from '../../src/web/server.ts'
import { startClusterWorkers } from './start-cluster-workers.ts'

/** Serves the clusters of a worker in a cluster until the process is told to stop. Throws `config`. */
export async function runInCluster(config: ClusterWorkerConfig): Promise<void> {
  const log = createLog(config.logLevel)
  const { host, port } = config
  const workers = startClusterWorkers({
    config,
    log,
    onEnd: err => {
      log.error({ err }, 'cluster cannot be served')
      process.exit(2)
    },
  })
  const server = await startServer({
    host,
    port,
    ready: () => workers.ready(),
    notReady: 'the log has the reason',
    log,
  })
  stopOnSignal(log, async () => {
    await server.close(1_000)
    await workers.close()
  })
  log.info({ health: `${server.url}/readyz`, clusters: config.clusters }, 'working')
}
