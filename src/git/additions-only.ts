import { runGit } from './run-git.ts'

/**
 * Whether the history of a commit only ever added files: one line, and nothing changed or deleted. Returns what is not so,
 * in words. A shallow clone shows a part of a history only, which is said too.
 */
export async function additionsOnly(dir: string, commit: string): Promise<readonly string[]> {
  const format = [
    '--format=%x00%H %P',
    '--raw',
    '--no-renames',
    '--no-abbrev',
    '--root',
    '-m',
    '-z',
    '--no-show-signature',
  ]
  const { status, output } = await runGit(dir, ['log', ...format, '--end-of-options', commit, '--'])
  const found: string[] = status === 0 ? [] : ['the history cannot be read']
  for (const part of output.toString('utf8').split('\0')) {
    const [, id = '', parents = ''] = /^\n?([0-9a-f]{40}) ?((?:[0-9a-f]{40} ?)*)$/.exec(part) ?? []
    if (parents.trim().includes(' ')) found.push(`commit ${id} is a merge`)
    const [, change = 'A'] = /^\n*:\d+ \d+ [0-9a-f]+ [0-9a-f]+ ([A-Z])\d*$/.exec(part) ?? []
    if (change !== 'A') found.push(`the history changes or deletes a file (git status ${change})`)
  }
  const { output: shallow } = await runGit(dir, ['rev-parse', '--is-shallow-repository'])
  if (shallow.toString().trim() === 'true') found.push('the clone is shallow, so the history is not complete')
  return [...new Set(found)]
}
