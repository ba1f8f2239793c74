import { BailiwickError } from '../errors.ts'

/** A longer usage line hides what is wrong. */
const LONGEST = 90

/** A `usage` error of the command with this usage line. The remedy is `fix`, else the usage line, or where to read it if it is long. */
export function usageError(usage: string, message: string, fix?: string): BailiwickError {
  const [name = ''] = usage.split(' ', 1)
  const help = usage.length > LONGEST ? `Run bailiwick help ${name}.` : `usage: bailiwick ${usage}`
  return new BailiwickError('usage', message, { fix: fix ?? help })
}
