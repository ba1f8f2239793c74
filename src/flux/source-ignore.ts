import { BailiwickError } from '../base/errors.ts'
import type { Tree } from '../git/tree.ts'

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

/** Whether a name fits a pattern. */
type NameMatcher = (name: string, work: MatchWork) => boolean

const SPECIAL = /[*?[\\]/

/** Go's filepath.Match for one name: `*`, `?`, `[a-z]`, `[^a]`, `\x`. A malformed pattern matches nothing. */
function nameMatcher(pattern: string): NameMatcher {
  if (!SPECIAL.test(pattern)) return counted(name => name === pattern)
  const suffix = pattern.slice(1)
  if (pattern.startsWith('*') && !SPECIAL.test(suffix)) return counted(name => name.endsWith(suffix))
  const parts = parse(pattern)
  return parts ? (name, work) => matches(parts, name, work) : counted(() => false)
}

function counted(test: (name: string) => boolean): NameMatcher {
  return (name, work) => {
    work.spend(1)
    return test(name)
  }
}

function matches(parts: readonly Part[], name: string, work: MatchWork): boolean {
  const chars = [...name]
  let part = 0
  let char = 0
  let star = -1
  let resume = 0
  work.spend(chars.length + 10)
  while (char < chars.length) {
    work.spend(1)
    const here = parts[part]
    if (here === '*') {
      star = part++
      resume = char
    } else if (here?.(chars[char]!)) {
      part++
      char++
    } else if (star >= 0) {
      part = star + 1
      char = ++resume
    } else return false
  }
  while (parts[part] === '*') part++
  return part === parts.length
}

type Part = '*' | ((char: string) => boolean)

function parse(pattern: string): Part[] | undefined {
  const chars = [...pattern]
  const parts: Part[] = []
  for (let index = 0; index < chars.length; index++) {
    const char = chars[index]!
    if (char === '*') parts.push('*')
    else if (char === '?') parts.push(() => true)
    else if (char === '[') {
      const set = parseSet(chars, index + 1)
      if (!set) return undefined
      parts.push(set.test)
      index = set.end
    } else if (char === '\\') {
      const next = chars[++index]
      if (next === undefined) return undefined
      parts.push(other => other === next)
    } else parts.push(other => other === char)
  }
  return parts
}

function parseSet(
  chars: readonly string[],
  start: number,
): { test: (char: string) => boolean; end: number } | undefined {
  let index = start
  const negated = chars[index] === '^'
  if (negated) index++
  const ranges: [string, string][] = []
  while (chars[index] !== ']' || ranges.length === 0) {
    const low = member(chars, index)
    if (!low) return undefined
    index = low.next
    let high = low
    if (chars[index] === '-') {
      const upper = member(chars, index + 1)
      if (!upper) return undefined
      high = upper
      index = upper.next
    }
    ranges.push([low.char, high.char])
  }
  const test = (char: string): boolean => ranges.some(([low, high]) => low <= char && char <= high) !== negated
  return { test, end: index }
}

function member(chars: readonly string[], index: number): { char: string; next: number } | undefined {
  const char = chars[index]
  if (char === undefined || char === '-' || char === ']') return undefined
  if (char !== '\\') return { char, next: index + 1 }
  const escaped = chars[index + 1]
  return escaped === undefined ? undefined : { char: escaped, next: index + 2 }
}

/** Comparisons of characters and of patterns with paths, and looks at entries of trees. */
const MAX_STEPS = 30_000_000

/** Counts comparisons, so that patterns from outside cannot cost more than is allowed. */
export class MatchWork {
  steps = 0
  private readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  /** Throws `render-limits` for too much work. */
  spend(steps: number): void {
    this.steps += steps
    if (this.steps <= this.limit) return
    const fix = 'Use fewer and simpler ignore patterns.'
    throw new BailiwickError('render-limits', 'the ignore patterns need too many steps to match', { fix })
  }
}

/**
 * What packing may use up: of one Kustomization, or of all that share it. Each artifact is charged once, even if it was
 * packed before, so that the answer does not depend on what was rendered before.
 */
export class PackBudget {
  private left: number
  private readonly paid = new Set<Tree>()

  /** `scale`: how many times the usual limit. */
  constructor(scale = 1) {
    this.left = MAX_STEPS * scale
  }

  /** What `pack` gives, paid for. Throws `render-limits`. */
  pack(pack: (work: MatchWork) => Tree): { tree: Tree; steps: number } {
    const work = new MatchWork(this.left)
    try {
      const tree = pack(work)
      this.paid.add(tree)
      return { tree, steps: work.steps }
    } finally {
      this.left -= work.steps
    }
  }

  /** Pays for something else that belongs to it. Throws `render-limits`. */
  spend(steps: number): void {
    this.left -= steps
    if (this.left < 0) new MatchWork(0).spend(1)
  }

  /** Pays for what is packed already. Throws `render-limits`. */
  pay({ tree, steps }: { readonly tree: Tree; readonly steps: number }): void {
    if (this.paid.has(tree)) return
    this.pack(work => {
      work.spend(steps)
      return tree
    })
  }
}
