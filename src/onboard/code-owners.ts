import { IgnoreRules, parsePattern } from '../flux/ignore-pattern.ts'
import { MatchWork } from '../flux/pack-budget.ts'
import type { Tree } from '../git/tree.ts'
import { OWNER_FILES } from './template/add-owners.ts'

const MAX_STEPS = 1_000_000
/** GitHub ignores a larger file. */
const MAX_BYTES = 3 * 1024 * 1024

/**
 * Who owns any of these files, as the CODEOWNERS of the fleet names them: of each file the last line that matches. Throws
 * `render-limits` for patterns that need too much work.
 */
export function codeOwners(tree: Tree, paths: readonly string[]): string[] {
  const file = OWNER_FILES.find(path => tree.entry(path)?.type === 'file')
  const bytes = file === undefined ? undefined : tree.read(file)
  if (!bytes || bytes.length > MAX_BYTES) return []
  const work = new MatchWork(MAX_STEPS)
  const lines = new TextDecoder()
    .decode(bytes)
    .split(/\r?\n/)
    .map(line =>
      line
        .replace(/(?:^|\s)#.*/, '')
        .trim()
        .split(/\s+/),
    )
    .filter(([pattern]) => pattern !== undefined && pattern !== '')
    .reverse()
  const owners = paths.flatMap(
    path => lines.find(([pattern = '']) => owns(pattern, path.split('/'), work))?.slice(1) ?? [],
  )
  return [...new Set(owners)].sort()
}

/** A pattern of a directory owns what is in it; `docs/*` owns its files alone, unlike in .gitignore (GitHub, About code owners). */
function owns(pattern: string, path: readonly string[], work: MatchWork): boolean {
  const name = path.at(-1)!.replaceAll(/[\\*?[\]!#]/g, '\\$&')
  const isFiles = pattern.endsWith('/*')
  const rules = new IgnoreRules([parsePattern(isFiles ? `${pattern.slice(0, -1)}${name}` : pattern, [])], work)
  if (isFiles) return rules.ignores(path, false) && !rules.ignores(path.slice(0, -1), true)
  return path.some((_, index) => rules.ignores(path.slice(0, index + 1), index < path.length - 1))
}
