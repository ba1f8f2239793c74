/**
 * Whether a pattern of a ruleset names a branch: `~ALL`, `~DEFAULT_BRANCH`, or a path with `*` (within one segment) and
 * `**` (over segments), as fnmatch with the flag of paths: https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/creating-rulesets-for-a-repository
 */
export function matchesRef(pattern: string, branch: string, defaultBranch: string): boolean {
  if (pattern === '~ALL') return true
  if (pattern === '~DEFAULT_BRANCH') return branch === defaultBranch
  const source = pattern
    .replace(/^refs\/heads\//, '')
    .split(/(\*\*\/|\*\*|\*|\?)/)
    .map(part => {
      if (part === '**/') return '(?:.*/)?'
      if (part === '**') return '.*'
      if (part === '*') return '[^/]*'
      return part === '?' ? '[^/]' : part.replaceAll(/[.+^$()|[\]\\{}]/g, '\\$&')
    })
  return new RegExp(`^${source.join('')}$`).test(branch)
}
