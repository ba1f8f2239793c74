import { AsyncLocalStorage } from 'node:async_hooks'
import { type DestinationStream, type Logger, pino } from 'pino'
import { programVersion } from '../base/version.ts'

/** The logger methods that our code may use; a test can pass its own. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

const MAX_TEXT = 2_000

/** Creates the log of a process, whose first line names the process and its version. */
export function startLog(level: string, process: 'web' | 'worker' | 'worker in a cluster'): Logger {
  const log = createLog(level)
  log.info({ process, version: programVersion() }, 'starting')
  return log
}

/** What a process is working on: every line that it logs meanwhile has these fields, unless the line sets them itself. */
export interface LoggedWork {
  /** Kind of job. */
  readonly job?: string
  readonly attempt?: number
  /** GitHub's id of the webhook that caused it. */
  readonly delivery?: string | undefined
  readonly [field: string]: string | number | boolean | undefined
}

const current = new AsyncLocalStorage<{ readonly work: LoggedWork; isOver: boolean }>()

/** Runs a piece of work whose log lines name it. What it leaves running, such as a watch, does not name it any more. */
export async function logAbout<T>(work: LoggedWork, run: () => Promise<T>): Promise<T> {
  const entry = { work, isOver: false }
  try {
    return await current.run(entry, run)
  } finally {
    entry.isOver = true
  }
}

/** What this process is working on here; {} between pieces of work. */
export function currentWork(): LoggedWork {
  const entry = current.getStore()
  return entry === undefined || entry.isOver ? {} : entry.work
}

/**
 * Creates the log: one JSON object per line, so that a newline in a tenant's input cannot forge a line. Errors are
 * reduced to type, code, message and stack, because errors of HTTP clients contain tokens and those of webhook
 * libraries the whole payload.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    mixin: () => ({ ...currentWork() }),
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: plainError, error: plainError, event: eventName },
    redact: {
      paths: ['*.headers', '*.privateKey', '*.webhookSecret', '*.webhookSecretPrevious', '*.token', '*.redisUrl'],
      remove: true,
    },
  }
  return destination ? pino(options, destination) : pino(options)
}

function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error).slice(0, MAX_TEXT)
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
  const stack = error.stack?.slice(0, MAX_TEXT)
  const inner = error instanceof AggregateError ? { errors: error.errors.slice(0, 10).map(plainError) } : {}
  return { type: error.name, ...code, message: error.message.slice(0, MAX_TEXT), stack, ...inner }
}

function eventName(event: unknown): unknown {
  if (typeof event !== 'object' || event === null) return event
  const { id, name } = event as { id?: unknown; name?: unknown }
  return { id, name }
}
