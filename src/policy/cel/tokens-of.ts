export type Token =
  | { readonly type: 'mark'; readonly text: string }
  | { readonly type: 'name'; readonly text: string }
  | { readonly type: 'literal'; readonly value: string | number | boolean | null }

const MAX_LENGTH = 4000
const TOKEN =
  /\s*(?:\/\/[^\n]*|(r?)("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(\d+)(?![\w.])|([A-Za-z_]\w*)|(\|\||&&|==|!=|[()[\],.?:!]))/y
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
])
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  ['`', '`'],
  ['?', '?'],
])

/** The words of a CEL expression; undefined where one is not known here. */
export function tokensOf(text: string): Token[] | undefined {
  if (text.length > MAX_LENGTH) return undefined
  const tokens: Token[] = []
  const end = text.trimEnd().length
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < end) {
    const found = TOKEN.exec(text)
    if (!found) return undefined
    const [, raw, quoted, number, name, mark] = found
    if (quoted !== undefined) {
      const value = raw ? rawText(quoted) : unescaped(quoted.slice(1, -1))
      if (value === undefined) return undefined
      tokens.push({ type: 'literal', value })
    } else if (number !== undefined) tokens.push({ type: 'literal', value: Number(number) })
    else if (mark !== undefined) tokens.push({ type: 'mark', text: mark })
    else if (name === 'in') tokens.push({ type: 'mark', text: name })
    else if (name !== undefined) {
      const word = WORDS.get(name)
      tokens.push(word === undefined ? { type: 'name', text: name } : { type: 'literal', value: word })
    }
  }
  return tokens
}

/** Of a raw string that ends with a backslash nobody can tell where it ends. */
function rawText(quoted: string): string | undefined {
  return quoted.endsWith('\\"') || quoted.endsWith("\\'") ? undefined : quoted.slice(1, -1)
}

function unescaped(text: string): string | undefined {
  let isKnown = true
  const value = text.replace(/\\(.)/g, (_all, letter: string) => {
    const plain = ESCAPES.get(letter)
    isKnown &&= plain !== undefined
    return plain ?? ''
  })
  return isKnown ? value : undefined
}
