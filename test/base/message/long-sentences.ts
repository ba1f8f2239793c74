import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')
/** Words of a sentence. */
const MOST = 20

/** A sentence of the program that is longer than people read at a glance. */
export interface LongSentence {
  readonly file: string
  readonly words: number
  readonly text: string
}

/**
 * Every sentence of more than 20 words in the texts of src and workers: literals behind `message`, `fix`, `why`, `docs`, `title`
 * and `usage`, and the first texts of errors. A value, a code span, an address and a quoted part count as one word.
 */
export function longSentences(): LongSentence[] {
  return globSync(['src/**/*.ts', 'workers/**/*.ts'], { cwd: root })
    .sort()
    .flatMap(file => [...textsIn(readFileSync(join(root, file), 'utf8'))].flatMap(text => longIn(file, text)))
}

const LITERAL =
  '`(?:[^`\\\\$]|\\\\[\\s\\S]|\\$(?!\\{)|\\$\\{(?:[^{}`]|`[^`]*`|\\{[^{}]*\\})*\\})*`|\'(?:[^\'\\\\\\n]|\\\\.)*\'|"(?:[^"\\\\\\n]|\\\\.)*"'
const TEXTS = [
  new RegExp(`\\bmessage(${LITERAL})`, 'g'),
  new RegExp(`\\b(?:message|fix|why|docs|title|usage): (${LITERAL})`, 'g'),
  new RegExp(
    `\\b(?:new BailiwickError|offboardInput|usageError|usage|refused|wrong)\\([^\`'"]*(?:'[a-z-]+',\\s*)?(${LITERAL})`,
    'g',
  ),
]

/** The texts in a source file. */
export function textsIn(source: string): Set<string> {
  return new Set(
    TEXTS.flatMap(pattern => [...source.matchAll(pattern)].map(([, literal = '']) => literal.slice(1, -1))),
  )
}

/** The sentences of a text that are too long. */
export function longIn(file: string, text: string): LongSentence[] {
  const plain = text
    .replaceAll('\\n', '\n')
    .replaceAll('\\`', '`')
    .replace(/\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}/g, 'X')
    .replace(/`[^`]+`|"[^"]*"|\([^()]*\)/g, 'X')
  return plain
    .split(/(?<=[.!?;:])\s+|\n/)
    .map(sentence => ({ file, words: sentence.split(/\s+/).filter(word => /\w/.test(word)).length, text: sentence }))
    .filter(({ words }) => words > MOST)
}
