import { type Message, type MessagePart, type PartType, plainText, unquoted } from './message.ts'
import { andMore } from './name-list.ts'
import { visible } from './visible.ts'

/** What GitHub leaves alone in running text: a word of letters. Anything else could be a link, a mention, a reference or HTML. */
const PLAIN = /^(?:[A-Za-z]+(?:['-][A-Za-z]+)*|\d{1,6})$/
/** GitHub links what could be the id of a commit. */
const HEXADECIMAL = /(?:^|['-])[0-9a-f]{7,}(?:$|['-])/i
const TRAILING = /[.,;:!?…]+$/
const DASH = /^[—–]$/

/**
 * A value from outside as a Markdown code span: nothing in it is a mention, reference, link, image, HTML or the end of
 * the span; hidden characters are shown; a bar cannot split a table cell.
 */
export function code(value: string, max = 200): string {
  const shown = visible(value, max).replaceAll('|', '\\u{7c}').trim()
  if (shown === '') return '`""`'
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(run => run[0].length))
  const fence = '`'.repeat(longest + 1)
  const pad = shown.startsWith('`') || shown.endsWith('`') ? ' ' : ''
  return `${fence}${pad}${shown}${pad}${fence}`
}

/** Words of ours as a Markdown code span; outside of tables only, where a bar means nothing. */
export function ownCode(words: string): string {
  return `\`${words}\``
}

/**
 * A sentence that may quote values from outside, as one line of Markdown. Words of letters stay words, everything else
 * goes into code spans; so it cannot mention, refer, link, close an issue or start a block, whatever it holds.
 */
export function prose(sentence: string, max = 1500): string {
  const shown = visible(sentence, max)
  // an odd number of backticks: none of them is a quotation
  const pieces = (shown.split('`').length % 2 === 1 ? shown : shown.replaceAll('`', "'")).split(QUOTED)
  const out: string[] = []
  let opening = ''
  for (const [index, piece] of pieces.entries()) {
    if (index % 2 === 1) out.push(opening + code(piece.slice(1, -1), max))
    else {
      const [, closing = '', rest = '', next = ''] = /^(\)?[.,;:!?…]*(?= |$))?(.*?)((?<=^| )\()?$/s.exec(piece) ?? []
      const own = words(index === 0 ? closing + rest : rest)
      if (index > 0) out.push(`${out.pop()}${closing}`)
      if (own !== '') out.push(own)
      opening = next
    }
  }
  return out.join(' ').replace(/ ([.,;:!?…]+)(?= |$)/g, '$1')
}

/** What a sentence quotes: backticks may stand within other quotes, and the reverse. */
const QUOTED = /((?<=^|[ (])"(?:[^"\\]|\\.)+"(?=$|[ ).,;:!?…])|`[^`]+`)/

const isPlain = (word: string): boolean => PLAIN.test(word) && !HEXADECIMAL.test(word)

/** The word of `(59`, `tenants)` or `(gone);`: parentheses mean nothing in running text, but behind a bracket. */
function inParentheses(token: string): string {
  const word = /^\(?([^()]*?)\)?[.,;:!?…]*$/.exec(token)?.[1] ?? ''
  return token.startsWith('(') || !/^\d/.test(word) ? word : ''
}

function words(part: string): string {
  const out: string[] = []
  let quoted: string[] = []
  const flush = () => {
    if (quoted.length > 0) out.push(code(quoted.join(' '), 1500))
    quoted = []
  }
  for (const token of part.split(' ').filter(t => t !== '')) {
    const tail = TRAILING.exec(token)?.[0] ?? ''
    const word = token.slice(0, token.length - tail.length)
    // "1." begins a list
    const numbered = /^\d/.test(word) && tail !== ''
    if (word === '' || DASH.test(word) || (isPlain(word) && !numbered) || isPlain(inParentheses(token))) {
      flush()
      out.push(token)
    } else {
      quoted.push(word)
      if (tail === '') continue
      flush()
      out.push(`${out.pop()}${tail}`)
    }
  }
  flush()
  return out.join(' ')
}

/** A value from outside as an inline HTML code element, for places where Markdown is not read (`<summary>`). */
export function htmlCode(value: string, max = 200): string {
  const shown = visible(value, max).trim() || '""'
  const escaped = shown.replace(/[^A-Za-z0-9 ./:_-]/gu, char => `&#${char.codePointAt(0)};`)
  return `<code>${escaped}</code>`
}

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

/** Without quotes around it, and without the backslashes that those need. */
const plainly = (one: MessagePart): string =>
  one.text.startsWith('"') ? unquoted(one).replace(/\\(["\\])/g, '$1') : unquoted(one)

function typed(one: MessagePart, left: number): string {
  if (one.type === 'code') return ownCode(one.value)
  if (one.type !== 'text') return code(plainly(one), MAX_PART)
  const [before, after] = [/^\s/, /\s$/].map(space => (space.test(one.text) ? ' ' : ''))
  return `${before}${prose(one.text, left)}${after}`
}

function ownWords(words: string): string {
  const parts = words.split('`')
  // an odd number of backticks quotes nothing
  if (parts.length % 2 === 0) return words.replaceAll('`', "'").replace(MARKUP, '\\$&')
  return parts.map((text, at) => (at % 2 === 1 ? ownCode(text) : text.replace(MARKUP, '\\$&'))).join('')
}

/**
 * A fenced block of Markdown. The fence is longer than any run of backticks in the lines, so nothing in them ends the block, and
 * GitHub reads no mention, reference, link or HTML in it.
 */
export function fenced(language: string, lines: readonly string[]): string {
  const longest = Math.max(2, ...lines.flatMap(line => [...line.matchAll(/`+/g)].map(run => run[0].length)))
  const fence = '`'.repeat(longest + 1)
  return [`${fence}${language}`, ...lines, fence].join('\n')
}

/** The first `most` items as a Markdown list; what `line` gives is Markdown. The last line counts the others. */
export function bullets<T>(items: readonly T[], most: number, line: (one: T) => string): string {
  const shown = items.slice(0, most).map(one => `- ${line(one)}`)
  const left = items.length - shown.length
  return [...shown, ...(left > 0 ? [`- …${andMore(left)}`] : [])].join('\n')
}

/** Maximum length shown of a sentence without types. */
const MAX_TEXT = 4_000

/** A message as markup of an element's content: a value is `code`, and nothing in it is markup. */
export function htmlOf({ parts }: Message): string {
  return parts.map(one => (typeof one === 'string' ? sentence(one) : typedHtml(one))).join('')
}

function typedHtml(one: MessagePart): string {
  return one.type === 'text' ? sentence(one.text.slice(0, MAX_TEXT)) : codeOf(plainly(one))
}

const codeOf = (text: string) => `<code>${htmlText(text)}</code>`

/** Text between backticks becomes code. An odd number of backticks quotes nothing. */
function sentence(words: string): string {
  const parts = words.split('`')
  if (parts.length % 2 === 0) return htmlText(words)
  return parts.map((text, at) => (at % 2 === 1 ? codeOf(text) : htmlText(text))).join('')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

/** A text as content of an element or between the quotes of an attribute: nothing in it ends the place that it stands in. */
export function htmlText(text: string): string {
  return visible(text, MAX_TEXT).replace(/[&<>"'`]/g, character => ENTITIES[character] ?? '')
}

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
