import { type Message, type PartType, plainText } from './message.ts'
import { visible } from './visible.ts'

/** SGR codes by what a value is: where it is, what it is, whose it is. */
const COLORS: Readonly<Record<PartType, string | undefined>> = {
  path: '36',
  repository: '36',
  branch: '36',
  field: '36',
  object: '1',
  value: '1',
  tenant: '35',
  identity: '35',
  code: undefined,
  text: undefined,
}

/**
 * A message as one line for a terminal: what is hidden or moves the cursor is written out. With `color` values stand out
 * by what they are; no escape sequence comes from a value.
 */
export function terminalOf(message: Message, max = 1000, color = false): string {
  const plain = visible(plainText(message), max)
  // what is cut has no end of a value to put a color to
  if (!color || plain !== message.parts.map(one => visible(typeof one === 'string' ? one : one.text, max)).join(''))
    return plain
  return message.parts
    .map(one => {
      if (typeof one === 'string') return visible(one, max)
      const sgr = COLORS[one.type]
      return sgr === undefined ? visible(one.text, max) : `\u001b[${sgr}m${visible(one.text, max)}\u001b[0m`
    })
    .join('')
}
