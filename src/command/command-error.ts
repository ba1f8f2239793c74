import { BailiwickError } from '../errors.ts'
import type { Message } from '../message/message.ts'

/** The error of a command that cannot be done as it is written: final, said as a reply. */
export function commandError(message: string | Message, fix: string | Message): BailiwickError {
  return new BailiwickError('command-input', message, { fix })
}

/** A hostile word in a message: quoted, escaped, short. */
export function quoted(value: string): string {
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
}
