import { execFileSync, spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { mergeTrees } from '../../src/git/merge-trees.ts'
import { packSnapshot, type SnapshotFile } from '../../src/git/snapshot.ts'
import type { SnapshotEntry, TreeSnapshot } from '../../src/git/tree.ts'
import { randomHistory, type Shape } from './random-history.ts'
import { git, temporaryFolder } from './temporary-folder.ts'

type Files = ReadonlyMap<string, SnapshotFile>
type Histories = readonly (readonly [Files, Files, Files])[]

const snapshotOf = (files: Files): TreeSnapshot =>
  packSnapshot([...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1)))

/** Has a new repository hold these trees as commits (a base and its two children, for each) and merges them by git. */
function mergeByGit(histories: Histories): (string | 'conflict')[] {
  const dir = temporaryFolder()
  git(dir, 'init', '-q', '--bare')
  const input: Buffer[] = []
  const say = (text: string | Uint8Array) => input.push(Buffer.from(text))
  let mark = 0
  const commit = (files: Files, parent?: number): number => {
    say(`commit refs/heads/c${++mark}\nmark :${mark}\ncommitter t <t@example.com> 1 +0000\ndata 0\n`)
    if (parent) say(`from :${parent}\ndeleteall\n`)
    for (const { path, mode, content, id } of files.values()) {
      if (mode === '160000') say(`M 160000 ${id} ${path}\n`)
      else {
        const bytes = Buffer.from(content)
        say(`M ${mode ?? '100644'} inline ${path}\ndata ${bytes.length}\n`)
        say(bytes)
        say('\n')
      }
    }
    say('\n')
    return mark
  }
  const tips = histories.map(([base, ours, theirs]) => {
    const from = commit(base)
    return [commit(ours, from), commit(theirs, from)] as const
  })
  execFileSync('git', ['fast-import', '--quiet'], { cwd: dir, input: Buffer.concat(input) })
  return tips.map(([ours, theirs]) => {
    const { status, stdout, stderr } = spawnSync(
      'git',
      ['merge-tree', '--write-tree', '--name-only', `c${ours}`, `c${theirs}`],
      { cwd: dir, encoding: 'utf8' },
    )
    if (status !== 0 && status !== 1) throw new Error(`git merge-tree: ${stderr}`)
    return status === 0 ? stdout.trim() : 'conflict'
  })
}

const print = (files: Files) =>
  JSON.stringify([...files.values()].map(({ path, mode, content, id }) => [path, mode, String(content), id]))

/** Compares ours with git's; how often each was said. */
function compare(histories: Histories, say: string): Record<'merged' | 'conflict' | 'unknown', number> {
  const count = { merged: 0, conflict: 0, unknown: 0 }
  const wrong: string[] = []
  const byGit = mergeByGit(histories)
  for (const [index, history] of histories.entries()) {
    const [base, ours, theirs] = history.map(snapshotOf) as [TreeSnapshot, TreeSnapshot, TreeSnapshot]
    const merged = mergeTrees(base, ours, theirs)
    const said = typeof merged === 'string' ? merged : 'merged'
    count[said]++
    if (merged === 'unknown') continue
    const found = merged === 'conflict' ? merged : merged.tree.id
    if (found !== byGit[index])
      wrong.push(
        `${said}, git ${byGit[index] === 'conflict' ? 'conflict' : 'merged'}:\n${history.map(print).join('\n')}`,
      )
  }
  process.stdout.write(`${say}: ${JSON.stringify(count)} of ${histories.length}, wrong ${wrong.length}\n`)
  wrong.sort((a, b) => a.length - b.length)
  expect(wrong.slice(0, 4).join('\n\n'), `${wrong.length} merges differ from git's`).toBe('')
  return count
}

const entry = (path: string, content: string, mode: SnapshotEntry['mode'] = '100644'): SnapshotFile => ({
  ...{ path, mode, content },
})
const of = (...files: SnapshotFile[]): Files => new Map(files.map(file => [file.path, file]))

const shapes: readonly Shape[] = ['lines', 'blocks', 'yaml', 'paths', 'everything']

test.each(shapes)('random histories merge as git merges them: %s', { timeout: 300_000 }, shape => {
  const trials = Number(process.env.MERGE_TRIALS) || 100
  const from = Number(process.env.MERGE_SEED) || 1
  const count = compare(
    Array.from({ length: trials }, (_, index) => randomHistory(from + index, shape)),
    shape,
  )
  expect(count.merged, 'most are not left unknown').toBeGreaterThan(trials / 20)
  expect(count.conflict).toBeGreaterThan(trials / 20)
})

test('cases that a merge by hand gets wrong', { timeout: 120_000 }, () => {
  const long = `${'line\n'.repeat(3)}${'x'.repeat(9000)}\n`
  const nul = (first: string, last: string) => of(entry('f', `${first}\n${long}\0\nz\n${last}\n`))
  const text = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n'
  const cases: Histories = [
    // an empty file and another one that both sides add
    [of(), of(entry('f', '')), of(entry('f', 'a\n'))],
    [of(), of(entry('f', 'a\n')), of(entry('f', ''))],
    [of(), of(entry('f', '')), of(entry('f', 'a\n', '100755'))],
    // a NUL behind the part that git looks at
    [nul('a', 'b'), nul('A', 'b'), nul('a', 'B')],
    // both rename to one place, one with a change; both rename apart
    [of(entry('a', text)), of(entry('b', text)), of(entry('b', `${text}eight\n`))],
    [of(entry('a', text)), of(entry('b', text)), of(entry('c', text))],
    // a directory is renamed, and the other side adds to it
    [of(entry('d/a', text)), of(entry('e/a', text)), of(entry('d/a', text), entry('d/b', 'b\n'))],
    [of(entry('d/s/a', text)), of(entry('e/s/a', text)), of(entry('d/s/a', text), entry('d/b', 'b\n'))],
    [of(entry('d/a', text)), of(entry('a', text)), of(entry('d/a', text), entry('d/b', 'b\n'))],
    [of(entry('a', text)), of(entry('d/a', text)), of(entry('a', text), entry('b', 'b\n'))],
    // a file is swapped for a directory
    [of(entry('d', text)), of(entry('d/a', text)), of(entry('d', `${text}eight\n`))],
    [of(entry('d/a', text)), of(entry('d', 'x\n')), of(entry('d/a', text), entry('z', ''))],
    [of(), of(entry('d', 'x\n')), of(entry('d/a', 'x\n'))],
    // equal edits that touch others
    [of(entry('f', 'a\nb\nc\nd\n')), of(entry('f', 'a\nB\nc\nd\n')), of(entry('f', 'a\nB\nC\nd\n'))],
    [of(entry('f', 'a\nb')), of(entry('f', 'a\nb\n')), of(entry('f', 'A\nb'))],
    [of(entry('f', 'a\r\nb\r\nc\r\n')), of(entry('f', 'a\nb\nc\n')), of(entry('f', 'a\r\nb\r\nC\r\n'))],
  ]
  compare(cases, 'by hand')
})

test('renames that matter, attributes, submodules and lines repeated too often are unknown', () => {
  const sub = (id: string): SnapshotFile => ({ path: 's', mode: '160000', id: id.repeat(40), content: '' })
  const merge = (...files: [Files, Files, Files]) =>
    mergeTrees(...(files.map(snapshotOf) as [TreeSnapshot, TreeSnapshot, TreeSnapshot]))
  expect(merge(of(sub('1')), of(sub('2')), of(sub('3')))).toBe('unknown')
  const union = entry('.gitattributes', '* merge=union\n')
  expect(merge(of(union, entry('d/f', 'a\n')), of(union, entry('d/f', 'b\n')), of(union, entry('d/f', 'c\n')))).toBe(
    'unknown',
  )
  const many = 'a\n'.repeat(70)
  const repeated = merge(of(entry('f', many)), of(entry('f', `b\n${many}`)), of(entry('f', `${many}c\n`)))
  expect(repeated, 'git turns to another algorithm').toBe('unknown')
  const [was, changed] = [entry('a', 'a\nb\n'), entry('a', 'a\nc\n')]
  expect(merge(of(was), of(entry('b', 'a\nb\n')), of(changed))).toBe('unknown')
  expect(merge(of(was), of(entry('b', 'a\nb\n')), of(was, entry('c', ''))), 'the twin').toHaveProperty('tree')
})
