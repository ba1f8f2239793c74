/** The `ref_name` condition of a ruleset. */
interface RefCondition {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

/**
 * Whether a ruleset applies to a branch. Patterns follow Ruby's File.fnmatch with FNM_PATHNAME, as GitHub documents.
 */
export function namesBranch({ include, exclude }: RefCondition, branch: string, isDefault: boolean): boolean {
  const matches = (pattern: string) => {
    if (pattern === '~ALL') return true
    if (pattern === '~DEFAULT_BRANCH') return isDefault
    return globMatches(pattern, `refs/heads/${branch}`)
  }
  return include.some(matches) && !exclude.some(matches)
}

/** No real pattern has more; the two of them bound the work. */
const MAX_PATTERN = 300

/** `*` and `?` stay within a part of the name, a part `**` stands for any number of parts. Never slower than length by length. */
function globMatches(pattern: string, name: string): boolean {
  if (pattern.length > MAX_PATTERN) return false
  return partsMatch(pattern.split('/'), name.split('/'))
}

function partsMatch(patterns: readonly string[], parts: readonly string[]): boolean {
  // reached[i]: the patterns so far match the first i parts
  let reached = [true, ...parts.map(() => false)]
  for (const pattern of patterns) {
    reached = reached.map((_, end) => {
      if (pattern === '**') return reached.slice(0, end + 1).includes(true)
      return end > 0 && reached[end - 1] === true && partMatches(pattern, parts[end - 1] ?? '')
    })
  }
  return reached.at(-1) === true
}

function partMatches(pattern: string, part: string): boolean {
  let reached = [true, ...[...part].map(() => false)]
  const chars = [...part]
  for (const char of pattern.replace(/\*+/g, '*')) {
    reached = reached.map((_, end) => {
      if (char === '*') return reached.slice(0, end + 1).includes(true)
      return end > 0 && reached[end - 1] === true && (char === '?' || char === chars[end - 1])
    })
  }
  return reached.at(-1) === true
}
