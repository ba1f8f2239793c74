import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder of its own with these files, removed when the test is over. */
export function temporaryFolder(files: Readonly<Record<string, string>> = {}): string {
  const dir = mkdtempSync(join(tmpdir(), 'bailiwick-test-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  writeFiles(dir, files)
  return dir
}

export function writeFiles(dir: string, files: Readonly<Record<string, string>>): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
  return dir
}

/** Runs the real git as nobody in particular. */
export function git(dir: string, ...args: string[]): string {
  const settings = ['user.name=t', 'user.email=t@example.com', 'commit.gpgsign=false', 'init.defaultBranch=main']
  return execFileSync('git', [...settings.flatMap(one => ['-c', one]), ...args], {
    cwd: dir,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe'],
  }).trimEnd()
}

/** A git working copy with these files committed. */
export function repository(files: Readonly<Record<string, string>>): string {
  return commitAll(temporaryFolder(files))
}

const IDENTITY = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap(who => [
    [`GIT_${who}_NAME`, 't'],
    [`GIT_${who}_EMAIL`, 't@example.com'],
  ]),
)
const ALL = `git init -q --initial-branch=main
git add -A
git -c commit.gpgsign=false commit -q --allow-empty -m first
[ -z "$1" ] || git remote add origin "$1"`

/** Runs several git commands in one shell, because a process as large as that of the tests is slow to fork. */
export function shell(dir: string, script: string, ...args: string[]): string {
  execFileSync('sh', ['-ec', script, 'sh', ...args], { cwd: dir, env: { ...process.env, ...IDENTITY }, stdio: 'pipe' })
  return dir
}

/** Makes a folder a working copy on main with all of it committed. */
export const commitAll = (dir: string, url = ''): string => shell(dir, ALL, url)
