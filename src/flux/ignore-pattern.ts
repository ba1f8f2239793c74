import { BailiwickError } from '../errors.ts'
import { type NameMatcher, nameMatcher } from './match-name.ts'
import type { MatchWork } from './pack-budget.ts'

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
    throw new BailiwickError('render-limits', `ignore file: a line is longer than ${MAX_LINE} characters`)
  }
  return lines.filter(line => !line.startsWith('#') && !BLANK.test(line)).map(line => parsePattern(line, domain))
}

/** Ignore patterns, the last one that speaks about a path deciding. */
export class IgnoreRules {
  private readonly patterns: readonly IgnorePattern[]
  private readonly work: MatchWork

  constructor(patterns: readonly IgnorePattern[], work: MatchWork) {
    this.patterns = patterns
    this.work = work
  }

  /** Whether a path is left out. Throws `render-limits` for too much work. */
  ignores(path: readonly string[], isDirectory: boolean): boolean {
    const { patterns, work } = this
    for (let index = patterns.length - 1; index >= 0; index--) {
      const pattern = patterns[index]!
      if (isAbout(pattern, path, isDirectory, work)) return !pattern.includes
    }
    return false
  }
}

function isAbout(pattern: IgnorePattern, path: readonly string[], isDirectory: boolean, work: MatchWork): boolean {
  const { domain, parts } = pattern
  work.spend(3)
  if (path.length <= domain.length) return false
  for (let index = 0; index < domain.length; index++) {
    work.spend(1)
    if (path[index] !== domain[index]) return false
  }
  return parts.length > 1
    ? globMatches(pattern, path, isDirectory, work)
    : nameMatches(pattern, path, isDirectory, work)
}

/** The first place from `start` on whose name fits. */
function find(matches: NameMatcher, path: readonly string[], start: number, work: MatchWork): number {
  for (let index = start; index < path.length; index++) if (matches(path[index]!, work)) return index
  return -1
}

function nameMatches(pattern: IgnorePattern, path: readonly string[], isDirectory: boolean, work: MatchWork): boolean {
  const index = find(pattern.parts[0]!.matches, path, pattern.domain.length, work)
  if (index < 0) return false
  return !(pattern.directoriesOnly && !isDirectory && index === path.length - 1)
}

function globMatches(pattern: IgnorePattern, path: readonly string[], isDirectory: boolean, work: MatchWork): boolean {
  const { parts } = pattern
  let start = pattern.domain.length
  let matched = false
  let anyDepth = false
  for (const [index, { text, matches }] of parts.entries()) {
    work.spend(5)
    if (text === '') anyDepth = false
    else if (text === '**') {
      if (index === parts.length - 1) break
      anyDepth = true
    } else {
      if (text.includes('**') || start >= path.length) return false
      const found = anyDepth ? find(matches, path, start, work) : matches(path[start]!, work) ? start : -1
      // with `**` before it, a part that is nowhere only fails the pattern if nothing comes after it
      if (found < 0 && !anyDepth) return false
      matched = found >= 0
      start = found < 0 ? path.length : found + 1
      anyDepth = false
    }
  }
  return matched && !(pattern.directoriesOnly && !isDirectory && start >= path.length)
}
