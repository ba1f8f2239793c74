/** The type of a value in a message: decides how it is written and who may read it. */
export type ValueType =
  | 'tenant'
  /** An object, or the name of one: a namespace too. */
  | 'object'
  | 'field'
  | 'repository'
  | 'branch'
  | 'path'
  | 'identity'
  /** Any other value, which may name anyone. */
  | 'value'
  /** A sentence of another program, or of ours before its values had types. */
  | 'text'

/** `code`: a word of ours that is code, as a field, a file, a command. */
export type PartType = ValueType | 'code'

/** A value in a message: what it is, the value itself, and how it is written there. */
export interface MessagePart {
  readonly type: PartType
  readonly value: string
  readonly text: string
}

declare const written: unique symbol

/** A sentence of ours with values in it: strings are our own words, everything else has a type. Plain JSON, made here only. */
export interface Message {
  readonly parts: readonly (string | MessagePart)[]
  readonly [written]: true
}

/** No name and no path is longer; what is cut for people is not carried in full. */
const MAX_VALUE = 5_000

/** A value of a type as a part; `text`: how it is written, where that is not the value as it is. */
export function part(type: ValueType, value: string, text = value): MessagePart {
  return { type, value: text === value ? value : value.slice(0, MAX_VALUE), text }
}

/** A sentence whose values have no types: what may be shown of it is found out from its words. */
export function untyped(sentence: string): Message {
  return made(sentence === '' ? [] : [part('text', sentence)])
}

/** Only a literal of the source, or a union of such: a `string` may hold a value from outside. */
type Literal<T> = T extends string ? (Record<never, never> extends Record<T, unknown> ? never : T) : T
/** A word of ours that is code: `spec.path`. */
export function codeWord<const T extends string>(word: T & Literal<T>): MessagePart {
  return { type: 'code', value: word, text: word }
}

type Values = readonly (MessagePart | Message | number | string)[]
type OwnWords<T extends Values> = { readonly [At in keyof T]: Literal<T[At]> }

/**
 * A message from a template: message`${part('repository', name)} has no tree`. What stands in the template is our own, and
 * so is a literal; a value gets in with its type only, so none can be taken for words of ours. A message in a message keeps its parts.
 * Quotes around a part are part of how it is written.
 */
export function message<const T extends Values>(words: TemplateStringsArray, ...values: T & OwnWords<T>): Message {
  const texts = [...words]
  const parts: (string | MessagePart)[] = []
  for (const [at, value] of values.entries()) {
    const [before = '', after = ''] = [texts[at], texts[at + 1]]
    const quote = before.at(-1) ?? ''
    if (typeof value === 'object' && 'type' in value && /["`]/.test(quote) && after.startsWith(quote)) {
      parts.push(before.slice(0, -1), { ...value, text: `${quote}${value.text}${quote}` })
      texts[at + 1] = after.slice(1)
    } else {
      const inner = typeof value === 'object' ? ('parts' in value ? value.parts : [value]) : [String(value)]
      parts.push(before, ...inner)
    }
  }
  parts.push(texts.at(-1) ?? '')
  return made(parts.filter(one => one !== ''))
}

/** Parts or messages as a list. */
export function listed(
  items: readonly (MessagePart | Message)[],
  between: ', ' | ' and ' | ' or ' | ' ' | '; ' | '. ' = ', ',
): Message {
  return made(items.flatMap((item, at) => [...(at === 0 ? [] : [between]), ...('parts' in item ? item.parts : [item])]))
}

/** The first of them as a list, and how many more there are. */
export function listedFew(items: readonly (MessagePart | Message)[], most: number, between?: ', ' | '; '): Message {
  const few = listed(items.slice(0, most), between)
  return items.length > most ? message`${few} and ${items.length - most} more` : few
}

/** A part in place of another one, and of these words of ours right before it. */
interface Replaced {
  readonly part: MessagePart
  readonly before?: string
}

/** The message with other parts. */
export function changed(original: Message, change: (one: MessagePart) => Replaced): Message {
  const parts: (string | MessagePart)[] = []
  for (const one of original.parts) {
    const { part: next, before = '' } = typeof one === 'string' ? { part: one } : change(one)
    const last = parts.at(-1)
    if (before !== '' && typeof last === 'string' && last.endsWith(before)) {
      parts[parts.length - 1] = last.slice(0, -before.length)
    }
    parts.push(next)
  }
  return made(parts.filter(one => one !== ''))
}

const made = (parts: Message['parts']) => ({ parts }) as unknown as Message

/** The message as one text, as JSON and logs have it. */
export function plainText(text: string | Message): string {
  if (typeof text === 'string') return text
  return text.parts.map(one => (typeof one === 'string' ? one : one.text)).join('')
}

/** A part as it is written, without quotes around it: a renderer has its own. */
export function unquoted({ text }: MessagePart): string {
  return /^(["`])(.*)\1$/s.exec(text)?.[2] ?? text
}

/** The text of an error or a finding: plain, and with typed parts where it has them. */
export interface Worded {
  readonly message: string
  readonly typed?: Message | undefined
  readonly fix?: string | undefined
  readonly typedFix?: Message | undefined
}

/** A message and a fix as a finding carries them. */
export function sayingOf(
  text: string | Message,
  fix: string | Message,
): { readonly message: string; readonly fix: string; readonly typed?: Message; readonly typedFix?: Message } {
  return {
    message: plainText(text),
    fix: plainText(fix),
    ...(typeof text === 'string' || !hasTypes(text) ? {} : { typed: text }),
    ...(typeof fix === 'string' || !hasTypes(fix) ? {} : { typedFix: fix }),
  }
}

/** The message with its types. Where the text was changed since, the text counts. */
export function typedMessage({ message: text, typed }: Pick<Worded, 'message' | 'typed'>): Message {
  return typed !== undefined && plainText(typed) === text ? typed : untyped(text)
}

/** The same of the fix. */
export function fixOf({ fix = '', typedFix }: Pick<Worded, 'fix' | 'typedFix'>): Message {
  return typedMessage({ message: fix, typed: typedFix })
}

/** A text with a mark at its end, so that a new sentence can follow. Messages of errors have none. */
export const ended = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)

/** A clause as the start of a sentence: its first word of ours is written large. */
export function capital(text: string | Message): Message {
  const [first, ...rest] = asMessage(text).parts
  const large = (words: string) => words.replace(/^[a-z](?=[a-z']* )/, letter => letter.toUpperCase())
  if (first === undefined) return made([])
  if (typeof first === 'string') return made([large(first), ...rest])
  return made([
    first.type === 'text' ? { ...first, value: large(first.value), text: large(first.text) } : first,
    ...rest,
  ])
}

export function asMessage(text: string | Message): Message {
  return typeof text === 'string' ? untyped(text) : text
}

const hasTypes = ({ parts }: Message) => parts.some(one => typeof one === 'string' || one.type !== 'text')
