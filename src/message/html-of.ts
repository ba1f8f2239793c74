import { htmlText } from './html-text.ts'
import { type Message, type MessagePart, unquoted } from './message.ts'

/** As much of a sentence without types as anybody reads. */
const MAX_TEXT = 4_000

/** A message as markup of an element's content: a value is `code`, and nothing in it is markup. */
export function htmlOf({ parts }: Message): string {
  return parts.map(one => (typeof one === 'string' ? sentence(one) : typed(one))).join('')
}

function typed(one: MessagePart): string {
  return one.type === 'text' ? sentence(one.text.slice(0, MAX_TEXT)) : codeOf(unquoted(one))
}

const codeOf = (text: string) => `<code>${htmlText(text)}</code>`

/** What it quotes between backticks stands as code. An odd number of backticks quotes nothing. */
function sentence(words: string): string {
  const parts = words.split('`')
  if (parts.length % 2 === 0) return htmlText(words)
  return parts.map((text, at) => (at % 2 === 1 ? codeOf(text) : htmlText(text))).join('')
}
