import { readConfig } from './config.ts'
import { startLog } from './process/log.ts'
import { runProcess, stopOnSignal } from './process/run-process.ts'
import { readSettings } from './process/settings.ts'
import { startSite } from './start-site.ts'
import { openServices, warnOfProblems } from './surface/doctor/diagnose.ts'

/** Runs the web process, with workers inside if it has no Redis. */
async function main(): Promise<void> {
  const config = readSettings(process.env, env => readConfig(env))
  const log = startLog(config.logLevel, 'web')
  const services = await openServices(config, log)
  void warnOfProblems(config, 'web', log)
  const site = await startSite(config, log, { isUsable: () => services.usable() })
  stopOnSignal(log, () => site.close())
  log.info({ url: site.url, queue: config.redisUrl === undefined ? 'in process' : 'redis' }, 'listening')
}

await runProcess(main)
