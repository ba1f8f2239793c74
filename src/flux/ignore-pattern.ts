import { BailiwickError } from '../errors.ts'
import { type MatchWork, type NameMatcher, nameMatcher } from './match-name.ts'

/** One line of a `.sourceignore`, for paths below the directory that it stands in. */
export interface IgnorePattern {
  readonly domain: readonly string[]
  readonly parts: readonly PatternPart[]
  readonly includes: boolean
  readonly directoriesOnly: boolean
}

interface PatternPart {
  readonly text: string
  readonly matches: NameMatcher
}

/** Go's reader of lines gives up on longer ones. */
const MAX_LINE = 60_000
const BLANK = /^[\t\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/

/** Reads one line (gitignore of fluxcd/pkg/sourceignore, which is narrower than git's). */
export function parsePattern(line: string, domain: readonly string[]): IgnorePattern {
  const includes = line.startsWith('!')
  let text = includes ? line.slice(1) : line
  if (!text.endsWith('\\ ')) text = text.replace(/ +$/, '')
  const directoriesOnly = text.endsWith('/')
  if (directoriesOnly) text = text.slice(0, -1)
  const parts = text.split('/').map(part => ({ text: part, matches: nameMatcher(part) }))
  return { domain, parts, includes, directoriesOnly }
}

/** Lines of a file as patterns; comments and blank lines are none. Throws `render-limits` for a line without end. */
export function parsePatterns(text: string, domain: readonly string[]): IgnorePattern[] {
  const lines = text.split('\n').map(line => line.replace(/\r$/, ''))
  if (lines.some(line => line.length > MAX_LINE)) {
    throw new BailiwickError('render-limits', `a line of more than ${MAX_LINE} characters in an ignore file`)
  }
  return lines.filter(line => !line.startsWith('#') && !BLANK.test(line)).map(line => parsePattern(line, domain))
}

/** Comparisons of characters and of patterns with paths, for all paths of a tree. */
const MAX_STEPS = 20_000_000

/** Ignore patterns, the last one that speaks about a path deciding. Throws `render-limits` for too much work in all. */
export class IgnoreRules {
  private readonly patterns: readonly IgnorePattern[]
  private readonly work: MatchWork = { steps: 0 }

  constructor(patterns: readonly IgnorePattern[]) {
    this.patterns = patterns
  }

  /** Whether a path is left out. */
  ignores(path: readonly string[], isDirectory: boolean): boolean {
    const { patterns, work } = this
    for (let index = patterns.length - 1; index >= 0; index--) {
      const pattern = patterns[index]!
      if (++work.steps > MAX_STEPS) {
        const fix = 'Ignore less, or with fewer and simpler patterns.'
        throw new BailiwickError('render-limits', 'ignore files that take too much work', { fix })
      }
      if (speaksAbout(pattern, path, isDirectory, work)) return !pattern.includes
    }
    return false
  }
}

function speaksAbout(pattern: IgnorePattern, path: readonly string[], isDirectory: boolean, work: MatchWork): boolean {
  const { domain, parts } = pattern
  if (path.length <= domain.length || domain.some((name, i) => path[i] !== name)) return false
  const below = path.slice(domain.length)
  return parts.length > 1
    ? globMatches(pattern, below, isDirectory, work)
    : nameMatches(pattern, below, isDirectory, work)
}

function nameMatches(pattern: IgnorePattern, path: readonly string[], isDirectory: boolean, work: MatchWork): boolean {
  const index = path.findIndex(name => pattern.parts[0]!.matches(name, work))
  if (index < 0) return false
  return !(pattern.directoriesOnly && !isDirectory && index === path.length - 1)
}

function globMatches(pattern: IgnorePattern, path: readonly string[], isDirectory: boolean, work: MatchWork): boolean {
  const { parts } = pattern
  let rest = path
  let matched = false
  let anyDepth = false
  for (const [index, { text, matches }] of parts.entries()) {
    if (text === '') anyDepth = false
    else if (text === '**') {
      if (index === parts.length - 1) break
      anyDepth = true
    } else {
      if (text.includes('**') || rest.length === 0) return false
      const found = anyDepth ? rest.findIndex(name => matches(name, work)) : matches(rest[0]!, work) ? 0 : -1
      // with `**` before it, a part that is nowhere only fails the pattern if nothing comes after it
      if (found < 0 && !anyDepth) return false
      matched = found >= 0
      rest = found < 0 ? [] : rest.slice(found + 1)
      anyDepth = false
    }
  }
  return matched && !(pattern.directoriesOnly && !isDirectory && rest.length === 0)
}
