/**
 * Whether text is of the form of a wildcard pattern of Kyverno: `*` is any text, `?` one character
 * (github.com/kyverno/kyverno, ext/wildcard). Goes back to the last `*` only, so it takes pattern times text at most.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  let [at, from, star, mark] = [0, 0, -1, 0]
  while (from < text.length) {
    if (pattern[at] === '*') {
      star = at++
      mark = from
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[from])) {
      at++
      from++
    } else if (star >= 0) {
      at = star + 1
      from = ++mark
    } else return false
  }
  while (pattern[at] === '*') at++
  return at === pattern.length
}
