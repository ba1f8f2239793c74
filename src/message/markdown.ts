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
  const parts = visible(sentence, max).split('`')
  // an odd number of backticks: none of them is a quotation
  const segments = parts.length % 2 === 1 ? parts : [parts.join("'")]
  return segments
    .map((part, index) => (index % 2 === 1 ? code(part, max) : words(part)))
    .filter(part => part !== '')
    .join(' ')
    .replace(/ ([.,;:!?…]+)(?= |$)/g, '$1')
}

const isPlain = (word: string): boolean => PLAIN.test(word) && !HEXADECIMAL.test(word)

/** The word of `(59`, `tenants)` or `(gone);`: parentheses mean nothing in running text, but behind a bracket. */
function inParentheses(token: string): string {
  const word = /^\(?([^()]*)\)?[.,;:!?…]*$/.exec(token)?.[1] ?? ''
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
      const [, opening = '', inside, closing = ''] = /^(\(?)"([^"]+)"(\)?)$/.exec(word) ?? []
      if (inside !== undefined) flush()
      quoted.push(inside ?? word)
      if (tail === '' && inside === undefined) continue
      flush()
      out.push(`${opening}${out.pop()}${closing}${tail}`)
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
