/** Path parameters that may hold slashes on GitHub. */
const GREEDY = new Set(['ref', 'path', 'branch', 'basehead'])

export interface Matcher<T> {
  readonly value: T
  readonly method: string
  readonly pattern: RegExp
  readonly names: readonly string[]
  readonly literals: number
}

/** Compiles a path of the OpenAPI description ('/repos/{owner}/{repo}/git/ref/{ref}'). */
export function compile<T>(method: string, path: string, value: T): Matcher<T> {
  const names: string[] = []
  const source = path.split(/(\{[^}]+\})/).map(part => {
    if (!part.startsWith('{')) return part.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
    const name = part.slice(1, -1)
    names.push(name)
    return GREEDY.has(name) ? '(.+)' : '([^/]+)'
  })
  const literals = path.split('/').filter(segment => segment !== '' && !segment.startsWith('{')).length
  return { value, method, pattern: new RegExp(`^${source.join('')}$`), names, literals }
}

/** The most literal match, with its decoded parameters. */
export function match<T>(matchers: readonly Matcher<T>[], method: string, path: string) {
  let best: { value: T; params: Record<string, string>; literals: number } | undefined
  for (const matcher of matchers) {
    if (matcher.method !== method || (best && best.literals >= matcher.literals)) continue
    const found = matcher.pattern.exec(path)
    if (!found) continue
    const params: Record<string, string> = Object.create(null)
    for (const [index, name] of matcher.names.entries()) params[name] = decodeURIComponent(found[index + 1] ?? '')
    best = { value: matcher.value, params, literals: matcher.literals }
  }
  return best
}
