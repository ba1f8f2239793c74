import type { Log } from '../process/log.ts'

type Tell<D> = (data: D, error: unknown) => Promise<void>

/** Reports that a job ended without success. A failure of the report itself is only logged. */
export function reportDeadJob<D extends object>(tell: Tell<D> | undefined, log: Log): Tell<object> {
  return async (data, error) => {
    try {
      await tell?.(data as D, error)
    } catch (err) {
      log.error({ err, job: data }, 'failed job could not be reported')
    }
  }
}
