import { NotUnderstood } from './not-understood.ts'

/** A piece of a word, in the order in which a shell joins them. */
type Piece =
  | { readonly type: 'text'; readonly text: string; readonly quoted: boolean }
  /** `lower`: `${NAME,,}`; `other`: another expansion, whose result is not known. */
  | {
      readonly type: 'variable'
      readonly name: string
      readonly how: 'plain' | 'lower' | 'other'
      readonly written: string
      readonly quoted: boolean
    }
  | { readonly type: 'command'; readonly script: string }

export type Word = readonly Piece[]

export type ShellToken =
  | { readonly type: 'word'; readonly word: Word; readonly line: number }
  | { readonly type: 'operator'; readonly text: string; readonly line: number }

/** Operators, the longer ones first. */
const OPERATORS = ['&&', '||', '2>&1', '1>&2', '2>>', '&>', '>&2', '>>', '2>', ';', '|', '>', '\n']
/** What begins something that is not followed: here documents, subshells, background jobs, input. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['<', 'redirects input'],
  ['(', 'has a subshell or a function'],
  [')', 'has a subshell or a function'],
  ['&', 'runs a command in the background'],
  ['`', 'has a command in backquotes'],
])
const BLANK = /[ \t\r]/
const ENDS_WORD = /[\s;|&<>()]/
const NAME = /^[A-Za-z_]\w*/
const MAX_LENGTH = 64 * 1024
const MAX_DEPTH = 10

/** Cuts a script of bash into words and operators. Throws NotUnderstood for what is not followed. */
export function shellTokens(script: string, depth = 0): ShellToken[] {
  if (script.length > MAX_LENGTH) throw new NotUnderstood(`is longer than ${MAX_LENGTH} characters`)
  if (depth > MAX_DEPTH) throw new NotUnderstood('nests commands too deeply')
  const tokens: ShellToken[] = []
  let line = 1
  let index = 0
  while (index < script.length) {
    const here = script[index]!
    if (BLANK.test(here)) index++
    else if (script.startsWith('\\\n', index)) {
      index += 2
      line++
    } else if (here === '#') index = endOfLine(script, index)
    else {
      const operator = OPERATORS.find(one => script.startsWith(one, index))
      const refused = operator === undefined ? REFUSED.get(here) : undefined
      if (refused !== undefined) throw new NotUnderstood(refused)
      if (operator !== undefined) {
        tokens.push({ type: 'operator', text: operator, line })
        index += operator.length
        if (operator === '\n') line++
        continue
      }
      const { word, end } = readWord(script, index)
      tokens.push({ type: 'word', word, line })
      line += script.slice(index, end).split('\n').length - 1
      index = end
    }
  }
  return tokens
}

function endOfLine(script: string, from: number): number {
  const end = script.indexOf('\n', from)
  return end < 0 ? script.length : end
}

interface Read {
  readonly word: Piece[]
  end: number
}

function readWord(script: string, start: number): Read {
  const read: Read = { word: [], end: start }
  while (read.end < script.length) {
    const here = script[read.end]!
    if (ENDS_WORD.test(here)) break
    if (here === "'") single(script, read)
    else if (here === '"') double(script, read)
    else if (here === '$') dollar(script, read, false)
    else if (here === '\\') {
      if (script[read.end + 1] !== '\n') push(read, script[read.end + 1] ?? '', true)
      read.end += 2
    } else if (here === '`') throw new NotUnderstood(REFUSED.get(here))
    else {
      push(read, here, false)
      read.end++
    }
  }
  return read
}

/** Adds text to the last piece where that is of the same kind. */
function push({ word }: Read, text: string, quoted: boolean): void {
  const last = word.at(-1)
  if (last?.type === 'text' && last.quoted === quoted) word[word.length - 1] = { ...last, text: last.text + text }
  else word.push({ type: 'text', text, quoted })
}

function single(script: string, read: Read): void {
  const end = script.indexOf("'", read.end + 1)
  if (end < 0) throw new NotUnderstood('has an unclosed quote')
  push(read, script.slice(read.end + 1, end), true)
  read.end = end + 1
}

function double(script: string, read: Read): void {
  push(read, '', true)
  read.end++
  while (script[read.end] !== '"') {
    const here = script[read.end]
    if (here === undefined) throw new NotUnderstood('has an unclosed quote')
    if (here === '$') dollar(script, read, true)
    else if (here === '`') throw new NotUnderstood(REFUSED.get(here))
    else if (here === '\\' && '$`"\\\n'.includes(script[read.end + 1] ?? ' ')) {
      if (script[read.end + 1] !== '\n') push(read, script[read.end + 1]!, true)
      read.end += 2
    } else {
      push(read, here, true)
      read.end++
    }
  }
  read.end++
}

function dollar(script: string, read: Read, quoted: boolean): void {
  const rest = script.slice(read.end + 1, read.end + 300)
  if (rest.startsWith('(')) {
    const end = closing(script, read.end + 2)
    read.word.push({ type: 'command', script: script.slice(read.end + 2, end) })
    read.end = end + 1
    return
  }
  if (rest.startsWith('{')) {
    const end = rest.indexOf('}')
    const inner = rest.slice(1, end)
    const name = NAME.exec(inner)?.[0]
    if (end < 0 || name === undefined || /[$`'"\n]/.test(inner))
      throw new NotUnderstood('has an unsupported variable expansion')
    const after = inner.slice(name.length)
    const how = after === '' ? 'plain' : after === ',,' ? 'lower' : 'other'
    read.word.push({ type: 'variable', name, how, written: `\${${inner}}`, quoted })
    read.end += 2 + end
    return
  }
  const name = NAME.exec(rest)?.[0]
  if (name !== undefined) read.word.push({ type: 'variable', name, how: 'plain', written: `$${name}`, quoted })
  else if (/^["\s]|^$/.test(rest)) push(read, '$', true)
  else throw new NotUnderstood('has an unsupported variable expansion')
  read.end += 1 + (name?.length ?? 0)
}

/** Where the `)` is that ends a command, past quotes and inner commands. */
function closing(script: string, start: number): number {
  if (script[start] === '(') throw new NotUnderstood('does arithmetic')
  let depth = 1
  for (let index = start; index < script.length; index++) {
    const here = script[index]
    if (here === '\\') index++
    else if (here === "'") {
      index = script.indexOf("'", index + 1)
      if (index < 0) break
    } else if (here === '(') depth++
    else if (here === ')' && --depth === 0) return index
  }
  throw new NotUnderstood('has an unclosed command')
}
