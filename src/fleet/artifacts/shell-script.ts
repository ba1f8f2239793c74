import { NotUnderstood } from './not-understood.ts'
import { type ShellToken, shellTokens, type Word } from './shell-words.ts'

/** One command of a script. */
export interface ShellCommand {
  readonly type: 'command'
  readonly words: readonly Word[]
  /** What it writes to, `null` for standard error and the like. */
  readonly redirects: readonly { readonly append: boolean; readonly target: Word }[]
  /** What joins it to the one before it; absent: a new line. */
  readonly after: '&&' | '||' | '|' | undefined
  /** Its output goes on to the next one. */
  readonly piped: boolean
  /** Line in the script, from 1. */
  readonly line: number
}

interface ShellIf {
  readonly type: 'if'
  readonly branches: readonly { readonly condition: ShellCommand; readonly body: readonly ShellStatement[] }[]
  readonly otherwise: readonly ShellStatement[]
}

export type ShellStatement = ShellCommand | ShellIf

const KEYWORDS = new Set([
  'for',
  'while',
  'until',
  'case',
  'select',
  'function',
  '{',
  '}',
  '!',
  'time',
  'coproc',
  'done',
  'do',
  'esac',
])
const TO_NOTHING = new Set(['2>&1', '1>&2', '>&2'])

/** Reads a script of bash: commands one after the other and conditions. Throws NotUnderstood for anything else. */
export function parseScript(script: string, depth = 0): ShellStatement[] {
  const reader = { tokens: shellTokens(script, depth), index: 0 }
  const statements = block(reader, [])
  if (reader.index < reader.tokens.length) throw new NotUnderstood('is not a plain list of commands')
  return statements
}

interface Reader {
  readonly tokens: readonly ShellToken[]
  index: number
}

/** A word that is not quoted and has no variables. */
function plainWord(word: Word | undefined): string | undefined {
  if (word?.length !== 1) return undefined
  const [piece] = word
  return piece?.type === 'text' && !piece.quoted ? piece.text : undefined
}

const keywordAt = ({ tokens, index }: Reader) => {
  const token = tokens[index]
  return token?.type === 'word' ? plainWord(token.word) : undefined
}

const operatorAt = ({ tokens, index }: Reader) => {
  const token = tokens[index]
  return token?.type === 'operator' ? token.text : undefined
}

function block(reader: Reader, ends: readonly string[]): ShellStatement[] {
  const statements: ShellStatement[] = []
  let after: ShellCommand['after']
  while (reader.index < reader.tokens.length) {
    const operator = operatorAt(reader)
    if (operator === '\n' || operator === ';') {
      reader.index++
      after = undefined
      continue
    }
    const keyword = keywordAt(reader)
    if (keyword !== undefined && ends.includes(keyword)) return statements
    if (keyword === 'if') statements.push(condition(reader))
    else statements.push(command(reader, after))
    const next = operatorAt(reader)
    if (next === '&&' || next === '||' || next === '|') {
      after = next
      reader.index++
      while (operatorAt(reader) === '\n') reader.index++
    } else if (next !== undefined && next !== '\n' && next !== ';')
      throw new NotUnderstood('is not a plain list of commands')
  }
  return statements
}

function condition(reader: Reader): ShellIf {
  const branches: { condition: ShellCommand; body: ShellStatement[] }[] = []
  let otherwise: ShellStatement[] = []
  for (;;) {
    const keyword = keywordAt(reader)
    reader.index++
    if (keyword === 'fi') return { type: 'if', branches, otherwise }
    if (keyword === 'else') otherwise = block(reader, ['fi'])
    else if (keyword === 'if' || keyword === 'elif') {
      const tests = block(reader, ['then'])
      const [only] = tests
      if (tests.length !== 1 || only?.type !== 'command') throw new NotUnderstood('has a condition of several commands')
      if (keywordAt(reader) !== 'then') throw new NotUnderstood('has an if without then')
      reader.index++
      branches.push({ condition: only, body: block(reader, ['elif', 'else', 'fi']) })
    } else throw new NotUnderstood('has an if without fi')
  }
}

function command(reader: Reader, after: ShellCommand['after']): ShellCommand {
  const words: Word[] = []
  const redirects: { append: boolean; target: Word }[] = []
  const line = reader.tokens[reader.index]!.line
  for (; reader.index < reader.tokens.length; reader.index++) {
    const token = reader.tokens[reader.index]!
    if (token.type === 'word') {
      const keyword = words.length === 0 ? plainWord(token.word) : undefined
      if (keyword !== undefined && KEYWORDS.has(keyword)) throw new NotUnderstood(`has \`${keyword}\``)
      words.push(token.word)
    } else if (TO_NOTHING.has(token.text)) continue
    else if (token.text.includes('>')) {
      const target = reader.tokens[++reader.index]
      if (target?.type !== 'word') throw new NotUnderstood('has a redirection without a target')
      redirects.push({ append: token.text.endsWith('>>'), target: target.word })
    } else break
  }
  if (words.length === 0) throw new NotUnderstood('is not a plain list of commands')
  return { type: 'command', words, redirects, after, piped: operatorAt(reader) === '|', line }
}
