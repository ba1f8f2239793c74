import { type Message, plainText, untyped } from './message.ts'

/** What was said as an error or a finding: plain text, and beside it the same with types, where it has them. */
export interface Worded {
  readonly message: string
  readonly said?: Message | undefined
  readonly fix?: string | undefined
  readonly saidFix?: Message | undefined
}

/** A message and a fix as a finding carries them. */
export function sayingOf(
  text: string | Message,
  fix: string | Message,
): { readonly message: string; readonly fix: string; readonly said?: Message; readonly saidFix?: Message } {
  return {
    message: plainText(text),
    fix: plainText(fix),
    ...(typeof text === 'string' || !hasTypes(text) ? {} : { said: text }),
    ...(typeof fix === 'string' || !hasTypes(fix) ? {} : { saidFix: fix }),
  }
}

/** The message with its types. Where the text was changed since, the text counts. */
export function typedMessage({ message: text, said }: Pick<Worded, 'message' | 'said'>): Message {
  return said !== undefined && plainText(said) === text ? said : untyped(text)
}

/** The same of the fix. */
export function fixOf({ fix = '', saidFix }: Pick<Worded, 'fix' | 'saidFix'>): Message {
  return typedMessage({ message: fix, said: saidFix })
}

/** A message or a sentence as a message. */
export function asMessage(text: string | Message): Message {
  return typeof text === 'string' ? untyped(text) : text
}

const hasTypes = ({ parts }: Message) => parts.some(one => typeof one === 'string' || one.type !== 'text')
