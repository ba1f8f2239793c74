import type { Message } from '../../message/message.ts'
import { fixOf, sayingOf, typedMessage, type Worded } from '../../message/said.ts'

/** The same with message and fix as `hide` leaves them: nothing of what they were stays. */
export function ownWords<T extends Worded & { readonly fix: string }>(one: T, hide: (message: Message) => Message) {
  const { message: _message, fix: _fix, said: _said, saidFix: _saidFix, ...rest } = one
  return { ...rest, ...sayingOf(hide(typedMessage(one)), hide(fixOf(one))) }
}
