import { setImmediate } from 'node:timers/promises'
import { BailiwickError } from '../base/errors.ts'
import type { Log } from './log.ts'

/**
 * Runs the main function of a process. Each invalid setting is one line on stderr, and the process exits with code 2; any other
 * error is a bug, and Node handles it.
 */
export async function runProcess(main: () => Promise<void>): Promise<void> {
  try {
    await main()
  } catch (error) {
    const all: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
    const known = all.filter(one => one instanceof BailiwickError)
    if (known.length < all.length) throw error
    process.stderr.write(known.map(lineOf).join(''))
    process.exit(2)
  }
}

function lineOf(error: BailiwickError): string {
  const fix = error.fix === undefined ? '' : ` ${sentence(error.fix)}`
  const what = fix === '' || /[.!?]$/.test(error.message) ? error.message : `${error.message}.`
  return `error[${error.code}]: ${what}${fix}\n`.replaceAll(/[\r\n]+(?!$)/g, ' ')
}

/** Capitalizes the first word, because the fix starts a new sentence here. */
const sentence = (fix: string) => fix.replace(/^[a-z](?=[a-z]* )/, first => first.toUpperCase())

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

/** Logs what makes a running process useless, with its remedy, and exits with 2 as a start with an invalid setting does. */
export const exitOnRefusal =
  (log: Pick<Log, 'error'>) =>
  (error: BailiwickError): void => {
    log.error({ err: error, fix: error.fix }, error.message)
    process.exit(2)
  }

interface Asking {
  /** Undefined once the service accepts the settings, else why it did not answer. Throws `config` if it refuses them. */
  readonly ask: () => Promise<string | undefined>
  /** The service answered after the start, and refuses the settings. */
  readonly onRefused: (error: BailiwickError) => void
  /** First pause between two questions; it doubles up to a minute. */
  readonly retryMs?: number | undefined
}

const RETRY_MS = 5_000
const MAX_RETRY_MS = 60_000

/**
 * Asks a service whether it accepts the settings. Throws `config` if it refuses them. If it does not answer, the process starts all the
 * same, because an outage must not keep it from starting; the question is repeated until there is an answer. Returns why there is none yet.
 */
export async function askUntilAnswered({
  ask,
  onRefused,
  retryMs = RETRY_MS,
}: Asking): Promise<{ readonly problem: () => string | undefined }> {
  let problem = await ask()
  const again = (pauseMs: number): void => {
    const timer = setTimeout(async () => {
      try {
        problem = await ask()
      } catch (error) {
        if (!(error instanceof BailiwickError)) throw error
        return onRefused(error)
      }
      if (problem !== undefined) again(Math.min(pauseMs * 2, MAX_RETRY_MS))
    }, pauseMs)
    timer.unref()
  }
  if (problem !== undefined) again(retryMs)
  return { problem: () => problem }
}

/** Milliseconds of work after which others have their turn. */
const TURN_MS = 15

/** Runs steps to their result. Whenever they have taken 15 ms, the event loop goes on in between. */
export async function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  let since = performance.now()
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (performance.now() - since < TURN_MS) continue
    await setImmediate()
    since = performance.now()
  }
}
