import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

/** Each command of git that a text of ours tells people to run, as it is written in the sources, and one form of it. */
const HINTS: Readonly<Record<string, readonly string[]>> = {
  'git fetch ${remote} ${ref}': ['fetch', 'origin', 'COMMIT'],
  'git fetch ${remote} ${branch}:refs/remotes/${remote}/${branch}': [
    'fetch',
    'origin',
    'other:refs/remotes/origin/other',
  ],
  "git fetch --${isShallow ? 'unshallow' : 'all'}": ['fetch', '--all'],
  'git fetch --unshallow': ['fetch', '--unshallow'],
  'git fetch --refetch --no-filter': ['fetch', '--refetch', '--no-filter'],
  'git fetch --unshallow --refetch --no-filter': ['fetch', '--unshallow', '--refetch', '--no-filter'],
  'git -C ${directory} checkout ${branch}': ['checkout', 'main'],
  'git -C ${dir} worktree add --detach FOLDER': ['worktree', 'add', '--detach', 'FOLDER'],
  'git config --global --add safe.directory': ['config', '--local', '--add', 'safe.directory', '/somewhere'],
  'git fsck': ['fsck'],
  'git status': ['status'],
  'git apply': ['apply', '--check', 'PATCH'],
  // an edit of .gitattributes that the reader is to make
  'git lfs untrack': [],
}

/** A command in a text: behind `Run: ` or between backticks. */
const COMMAND =
  /(?:Run: |`|\()(git (?:-C \$\{\w+\} )?(?:fetch|checkout|worktree|config|fsck|status|apply|lfs|reset|clean|stash|rebase|pull|push|restore|switch|merge|clone|gc|prune|branch|remote|update-ref)\b(?: (?:--?[\w.-]+|\$\{[^}]*\}(?:[:/\w]+\$\{[^}]*\})*(?:\/\$\{[^}]*\})?|[A-Za-z][\w.]*|--\$\{[^}]*\}))*)/g

const COMMENT = /^ *(?:\/\/|\/?\*).*$/gm

let remote: string
beforeAll(() => {
  remote = mkdtempSync(join(tmpdir(), 'bailiwick-hints-'))
  git(remote, 'init', '--quiet', '--initial-branch', 'main')
  for (const text of ['one', 'two', 'three']) commit(remote, text)
  git(remote, 'branch', 'other', 'HEAD~1')
})

function git(dir: string, ...args: readonly string[]): string {
  const own = ['-C', dir, '-c', 'user.name=x', '-c', 'user.email=x@example.com', '-c', 'protocol.file.allow=always']
  return execFileSync('git', [...own, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

function commit(dir: string, text: string): void {
  writeFileSync(join(dir, 'file'), text)
  git(dir, 'add', '--all')
  git(dir, 'commit', '--quiet', '--message', text)
}

/** What no hint may change: branches, history, the index and the files, with edits that are not committed. */
function stateOf(clone: string): unknown {
  return {
    branches: git(clone, 'for-each-ref', 'refs/heads'),
    history: git(clone, 'rev-list', '--count', 'main').trim(),
    isShallow: git(clone, 'rev-parse', '--is-shallow-repository').trim(),
    status: git(clone, 'status', '--porcelain'),
    file: readFileSync(join(clone, 'file'), 'utf8'),
  }
}

test('each hint of the sources is listed', () => {
  const written = globSync('{src,workers}/**/*.ts').flatMap(path =>
    [...readFileSync(path, 'utf8').replace(COMMENT, '').matchAll(COMMAND)].map(([, command]) => command!.trim()),
  )
  const listed = Object.keys(HINTS)
  expect(
    [...new Set(written)].filter(one => !listed.some(known => known.startsWith(one) || one.startsWith(known))),
  ).toEqual([])
  expect(written.length).toBeGreaterThan(8)
})

test.for(Object.entries(HINTS).filter(([, args]) => args.length > 0))(
  '%s leaves a whole clone as it is',
  ([, args]) => {
    const clone = mkdtempSync(join(tmpdir(), 'bailiwick-clone-'))
    git(clone, 'clone', '--quiet', `file://${remote}`, '.')
    writeFileSync(join(clone, 'file'), 'an edit that is not committed')
    writeFileSync(join(clone, 'note'), 'a file that git does not know')
    writeFileSync(`${clone}.patch`, '--- a/new\n+++ b/new\n@@ -0,0 +1 @@\n+x\n'.replace('--- a/new', '--- /dev/null'))
    const values: Readonly<Record<string, string>> = {
      COMMIT: git(remote, 'rev-parse', 'other').trim(),
      FOLDER: `${clone}-worktree`,
      PATCH: `${clone}.patch`,
    }
    const before = stateOf(clone)
    try {
      git(clone, ...args.map(arg => values[arg] ?? arg))
    } catch (error) {
      // git refuses this in a whole clone, and the hint is for a shallow one
      expect(String((error as { stderr?: string }).stderr)).toContain('--unshallow on a complete repository')
    }
    expect(stateOf(clone)).toEqual(before)
  },
)
