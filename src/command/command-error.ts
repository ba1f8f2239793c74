import { BailiwickError } from '../errors.ts'

/** The error of a command that cannot be done as it is written: final, said as a reply. */
export function commandError(message: string, fix: string): BailiwickError {
  return new BailiwickError('command-input', message, { fix })
}

/** A hostile word in a message: quoted, escaped, short. */
export function quoted(value: string): string {
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
}
