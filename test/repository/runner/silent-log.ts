import { pino } from 'pino'
import type { Log } from '../../../src/process/log.ts'

/** A log that says nothing. */
export const silentLog: Log = pino({ level: 'silent' })
