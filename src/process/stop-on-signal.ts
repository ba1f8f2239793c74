import type { Log } from './log.ts'

/** Longest stop; shorter than `stop_grace_period` in docker-compose.yml. */
const DEADLINE_MS = 30_000

/**
 * Runs `stop` at the first SIGTERM or SIGINT, then exits with 0; exits with 1 if it fails, exceeds the deadline or a
 * second signal arrives.
 */
export function stopOnSignal(log: Log, stop: () => Promise<void>): void {
  let stopping = false
  const onSignal = (signal: string): void => {
    if (stopping) process.exit(1)
    stopping = true
    log.info({ signal }, 'stopping')
    setTimeout(() => process.exit(1), DEADLINE_MS).unref()
    stop().then(
      () => process.exit(0),
      err => {
        log.error({ err }, 'process did not stop cleanly')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}
