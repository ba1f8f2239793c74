import type { Log } from '../process/log.ts'

type Tell<D> = (data: D, error: unknown) => Promise<void>

/** Tells whoever wants to know that a job is over without success. That this fails too is only logged: nobody is left. */
export function tellDead<D extends object>(tell: Tell<D> | undefined, log: Log): Tell<object> {
  return async (data, error) => {
    try {
      await tell?.(data as D, error)
    } catch (err) {
      log.error({ err, job: data }, 'failed job could not be reported')
    }
  }
}
