import { htmlOf } from '../../message/html-of.ts'
import { type Message, untyped } from '../../message/message.ts'
import { Html } from './html.ts'

/** A message, or a sentence whose values have no types. */
export function prose(text: string | Message): Html {
  return new Html([htmlOf(typeof text === 'string' ? untyped(text) : text)])
}
