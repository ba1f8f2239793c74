import { readClusterWorkerConfig } from '../src/config.ts'
import { runProcess } from '../src/process/run-process.ts'

/** Runs a worker process: beside a web process on the same Redis, or in the cluster that it applies to. */
async function main(): Promise<void> {
  const inCluster = readClusterWorkerConfig(process.env)
  // not static imports: a worker in a cluster does not load Redis and job code
  if (inCluster) await (await import('./apply/run-in-cluster.ts')).runInCluster(inCluster)
  else await (await import('./run-on-redis.ts')).runOnRedis()
}

await runProcess(main)
