import { BailiwickError } from '../../../errors.ts'
import { IgnoreRules, parsePattern } from '../../../flux/ignore-pattern.ts'
import type { MatchWork } from '../../../flux/pack-budget.ts'
import { codeWord, message } from '../../../message/message.ts'

/** What one line of a `.gitattributes` sets for the files that its pattern fits. */
export interface AttributeLine {
  readonly line: number
  readonly pattern: string
  /** As they are written, macros replaced by what they stand for: `-diff`, `eol=crlf`. */
  readonly attributes: readonly string[]
}

/** Attributes of all lines of a file, macros replaced by what they stand for: one may stand for others, and those again. */
const MAX_ATTRIBUTES = 200_000
const BUILTIN: ReadonlyMap<string, readonly string[]> = new Map([['binary', ['-diff', '-merge', '-text']]])

/**
 * The lines of a `.gitattributes` (gitattributes(5)); macros are known from the line on that defines them. Throws
 * `render-limits` for more attributes than anybody writes.
 */
export function readAttributes(text: string): AttributeLine[] {
  const macros = new Map(BUILTIN)
  const found: AttributeLine[] = []
  let count = 0
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const quoted = /^"((?:[^"\\]|\\.)*)"(.*)$/.exec(line)
    const words = (quoted ? quoted[2]! : line).split(/[ \t]+/).filter(Boolean)
    const pattern = quoted ? quoted[1]!.replace(/\\(.)/g, '$1') : words.shift()!
    count += words.reduce((sum, word) => sum + 1 + (macros.get(word)?.length ?? 0), 0)
    if (count > MAX_ATTRIBUTES) throw tooMany()
    const attributes = [...new Set(words.flatMap(word => [word, ...(macros.get(word) ?? [])]))]
    if (pattern.startsWith('[attr]')) macros.set(pattern.slice('[attr]'.length), attributes)
    else found.push({ line: index + 1, pattern, attributes })
  }
  return found
}

function tooMany(): BailiwickError {
  const text = message`a ${codeWord('.gitattributes')} sets more than ${MAX_ATTRIBUTES} attributes after macros are expanded`
  return new BailiwickError('render-limits', text, { fix: message`Remove attributes or macros.` })
}

/** Whether a pattern of the `.gitattributes` in `domain` fits a file; throws `render-limits` for too much work. */
export function fits(pattern: string, domain: readonly string[], path: readonly string[], work: MatchWork): boolean {
  const own = path.slice(domain.length)
  const isName = !pattern.includes('/')
  // a pattern that is a name says nothing about what is below a directory of that name
  const seen = isName ? own.slice(-1) : own
  return new IgnoreRules([parsePattern(pattern, [])], work).ignores(seen, false)
}
