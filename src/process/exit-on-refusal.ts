import type { BailiwickError } from '../errors.ts'
import type { Log } from './log.ts'

/** Logs what makes a running process useless, with its remedy, and exits with 2 as a start with an invalid setting does. */
export const exitOnRefusal =
  (log: Pick<Log, 'error'>) =>
  (error: BailiwickError): void => {
    log.error({ err: error, fix: error.fix }, error.message)
    process.exit(2)
  }
