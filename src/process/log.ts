import { type DestinationStream, type Logger, pino } from 'pino'

/** The logger methods that our code may use; a test can pass its own. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

const MAX_TEXT = 2_000

/**
 * Creates the log: one JSON object per line, so that a newline in a tenant's input cannot forge a line. Errors are
 * reduced to type, code, message and stack, because errors of HTTP clients contain tokens and those of webhook
 * libraries the whole payload.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
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
