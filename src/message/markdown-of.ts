import { code, ownCode, prose } from './markdown.ts'
import { type Message, type MessagePart, unquoted } from './message.ts'

/** What Markdown would read in words of ours: they mean no markup but code. */
const MARKUP = /[\\*_<[\]|~]/g

/**
 * A message as one line of Markdown: a value is a code span, so nothing in it is a mention, link, HTML or the end of a
 * cell; our own words stand as they are, what they quote between backticks as code.
 */
export function markdownOf({ parts }: Message, max = 1500): string {
  let out = ''
  let left = max
  for (const one of parts) {
    if (left <= 0) return `${out}…`
    const text = typeof one === 'string' ? ownWords(one) : typed(one, left)
    left -= typeof one === 'string' ? one.length : Math.min(one.text.length, MAX_PART)
    // two code spans that touch are neither
    out += out.endsWith('`') && text.startsWith('`') ? ` ${text}` : text
  }
  return out
}

const MAX_PART = 200

function typed(one: MessagePart, left: number): string {
  if (one.type === 'code') return ownCode(one.value)
  if (one.type !== 'text') return code(unquoted(one), MAX_PART)
  const [before, after] = [/^\s/, /\s$/].map(space => (space.test(one.text) ? ' ' : ''))
  return `${before}${prose(one.text, left)}${after}`
}

function ownWords(words: string): string {
  const parts = words.split('`')
  // an odd number of backticks quotes nothing
  if (parts.length % 2 === 0) return words.replaceAll('`', "'").replace(MARKUP, '\\$&')
  return parts.map((text, at) => (at % 2 === 1 ? ownCode(text) : text.replace(MARKUP, '\\$&'))).join('')
}
