import { IgnoreRules, parsePattern } from '../../flux/ignore-pattern.ts'
import type { MatchWork } from '../../flux/pack-budget.ts'

/** What one line of a `.gitattributes` sets for the files that its pattern fits. */
export interface AttributeLine {
  readonly line: number
  readonly pattern: string
  /** As they are written, macros replaced by what they stand for: `-diff`, `eol=crlf`. */
  readonly attributes: readonly string[]
}

const MAX_LINE = 2_000
const MAX_LINES = 2_000
const BUILTIN: ReadonlyMap<string, readonly string[]> = new Map([['binary', ['-diff', '-merge', '-text']]])

/** The lines of a `.gitattributes` (gitattributes(5)); macros are known from the line on that defines them. */
export function readAttributes(text: string): AttributeLine[] {
  const macros = new Map(BUILTIN)
  const found: AttributeLine[] = []
  for (const [index, raw] of text.split('\n').slice(0, MAX_LINES).entries()) {
    const line = raw.slice(0, MAX_LINE).trim()
    if (line === '' || line.startsWith('#')) continue
    const quoted = /^"((?:[^"\\]|\\.)*)"(.*)$/.exec(line)
    const words = (quoted ? quoted[2]! : line).split(/[ \t]+/).filter(Boolean)
    const pattern = quoted ? quoted[1]!.replace(/\\(.)/g, '$1') : words.shift()!
    const attributes = words.flatMap(word => [word, ...(macros.get(word) ?? [])])
    if (pattern.startsWith('[attr]')) macros.set(pattern.slice('[attr]'.length), attributes)
    else found.push({ line: index + 1, pattern, attributes })
  }
  return found
}

/** Whether a pattern of the `.gitattributes` in `domain` fits a file; throws `render-limits` for too much work. */
export function fits(pattern: string, domain: readonly string[], path: readonly string[], work: MatchWork): boolean {
  const own = path.slice(domain.length)
  const isName = !pattern.includes('/')
  // a pattern that is a name says nothing about what is below a directory of that name
  const seen = isName ? own.slice(-1) : own
  return new IgnoreRules([parsePattern(pattern, [])], work).ignores(seen, false)
}
