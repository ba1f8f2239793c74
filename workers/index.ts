import { readClusterWorkerConfig } from '../src/config.ts'
import { runProcess } from '../src/process/run-process.ts'

/** A process of workers alone: beside a web process on the same Redis, or in the cluster that it applies to. */
async function main(): Promise<void> {
  const inCluster = readClusterWorkerConfig(process.env)
  // not static imports: a worker in a cluster loads nothing of Redis and of jobs
  if (inCluster) await (await import('./apply/run-in-cluster.ts')).runInCluster(inCluster)
  else await (await import('./run-on-redis.ts')).runOnRedis()
}

await runProcess(main)
