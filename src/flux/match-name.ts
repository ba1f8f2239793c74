import type { MatchWork } from './pack-budget.ts'

/** Whether a name fits a pattern. */
export type NameMatcher = (name: string, work: MatchWork) => boolean

const SPECIAL = /[*?[\\]/

/** Go's filepath.Match for one name: `*`, `?`, `[a-z]`, `[^a]`, `\x`. A malformed pattern matches nothing. */
export function nameMatcher(pattern: string): NameMatcher {
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
