import { BailiwickError } from '../errors.ts'

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
