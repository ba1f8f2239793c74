/** What a value in a message is. */
type PartType =
  | 'tenant'
  | 'object'
  | 'field'
  | 'repository'
  | 'branch'
  | 'path'
  | 'identity'
  /** Any other value, of which nobody knows whom it names. */
  | 'value'

/** A value in a message: what it is, the value itself, and how it is written there. */
export interface MessagePart {
  readonly type: PartType
  readonly value: string
  readonly text: string
}

/** A sentence of ours with values in it: strings are our own words, everything else has a type. Plain JSON. */
export interface Message {
  readonly parts: readonly (string | MessagePart)[]
}

/** A value of a type as a part; `text`: how it is written, where that is not the value as it is. */
export function part(type: PartType, value: string, text = value): MessagePart {
  return { type, value, text }
}

/**
 * A message from a template: message`${part('repository', name)} has no tree`. What stands in the template is our own; a
 * value gets in with its type only, so none can be taken for words of ours. A message in a message keeps its parts.
 */
export function message(words: TemplateStringsArray, ...values: readonly (MessagePart | Message | number)[]): Message {
  const parts = words.flatMap((word, at): (string | MessagePart)[] => {
    const value = values[at]
    if (value === undefined) return [word]
    if (typeof value === 'number') return [word, String(value)]
    return [word, ...('parts' in value ? value.parts : [value])]
  })
  return { parts: parts.filter(one => one !== '') }
}

/** The message as one text, as JSON and logs have it. */
export function plainText(said: string | Message): string {
  if (typeof said === 'string') return said
  return said.parts.map(one => (typeof one === 'string' ? one : one.text)).join('')
}
