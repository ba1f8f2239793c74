import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { appendDecisions } from '../../../src/verdict/append-decisions.ts'
import { type TrailAnchor, withAnchor } from '../../../src/verdict/trail-entry.ts'
import { decision } from '../../verdict/trail/decisions.ts'
import { run } from './run-main.ts'

let dir: string
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.example', '-c', 'commit.gpgsign=false', ...args], {
    cwd: dir,
  })

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true })
  writeFileSync(join(dir, path), content)
}

function commit(): void {
  git('add', '-A')
  git('commit', '-q', '-m', 'trail')
}

/** Two batches of two entries, on the branch of the trail. */
function grow(): TrailAnchor {
  git('init', '-q', '-b', 'bailiwick/trail')
  let head: TrailAnchor | undefined
  for (const numbers of [
    [1, 2],
    [3, 4],
  ]) {
    const appended = appendDecisions(
      numbers.map(number => decision(number)),
      head,
      [],
    )!
    write(appended.file.path, appended.file.bytes)
    commit()
    head = appended.head
  }
  return head!
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'bailiwick-trail-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

test('a complete trail is said to be so, and what that does not prove', async () => {
  const head = grow()
  const { code, stdout } = await run(dir, 'trail', 'verify')
  expect(code).toBe(0)
  expect(
    stdout
      .replace(/\n {2}/g, ' ')
      .split('\n')
      .slice(0, 4),
  ).toEqual([
    `The trail is complete: entry 4, hash ${head.hash}.`,
    '4 entries, 0 published places compared.',
    'Who wrote the commits is not verifiable in a clone. The first report of the fleet shows it.',
    'Entries that were cut off at the end are only found with --anchors.',
  ])
})

test('published places are compared', async () => {
  const head = grow()
  const file = join(dir, '.git', 'anchors')
  writeFileSync(file, `${withAnchor('5:pull-x', head)}\nsomething else\n`)
  const same = await run(dir, 'trail', 'verify', '--anchors', file)
  expect(same.code).toBe(0)
  expect(same.stdout).toContain('1 published places compared')
  expect(same.stdout).toContain('1 lines of --anchors name no place in the trail.')
  writeFileSync(file, withAnchor('5:pull-x', { seq: 5, hash: 'a'.repeat(64) }))
  const cut = await run(dir, 'trail', 'verify', '--anchors', file)
  expect(cut.code).toBe(1)
  expect(cut.stdout).toContain('entry 5 is missing: it was published, and the trail ends at entry 4')
})

test('a history that changes a file is not the one that was written', async () => {
  grow()
  const path = 'trail/0000000003.jsonl'
  const changed = appendDecisions([decision(7)], { seq: 2, hash: 'b'.repeat(64) }, [])!
  write(path, changed.file.bytes)
  commit()
  const { code, stdout } = await run(dir, 'trail', 'verify')
  expect(code).toBe(1)
  expect(stdout).toContain('the history changes or deletes a file (git status M)')
  expect(stdout).toContain('trail/0000000003.jsonl:1: entry 3 does not follow the line before it')
})

test('whatever else the branch holds is a problem', async () => {
  grow()
  write('README.md', 'x')
  write('trail/deep/0000000005.jsonl', 'x')
  commit()
  const { code, stdout } = await run(dir, 'trail', 'verify', '-o', 'json')
  expect(code).toBe(1)
  const { problems } = JSON.parse(stdout) as { problems: { file: string; message: string }[] }
  expect(problems.map(({ file }) => file).sort()).toEqual(['README.md', 'trail/deep'])
})

test('the entries are listed', async () => {
  grow()
  const { code, stdout } = await run(dir, 'trail', 'show')
  expect(code).toBe(0)
  expect(stdout.split('\n')[0]).toMatch(/^ENTRY +TIME +DECISION +RESULT +BY +ABOUT$/)
  expect(stdout).toMatch(/3 +2026-01-01T00:00:03 +verdict +fail +bailiwick\[bot\] +acme\/fleet#3/)
})

test('a clone without the branch says how to get it', async () => {
  git('init', '-q')
  const { code, stderr } = await run(dir, 'trail', 'verify')
  expect(code).toBe(2)
  expect(stderr).toContain('error[git-missing]')
})
