import { BailiwickError } from '../errors.ts'
import type { Message } from '../message/message.ts'

/** The error for an invalid command; it is not retried, and becomes the reply. */
export function commandError(message: string | Message, fix: string | Message): BailiwickError {
  return new BailiwickError('command-input', message, { fix })
}

/** Quotes, escapes and shortens an untrusted word for a message. */
export function quoted(value: string): string {
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
}
