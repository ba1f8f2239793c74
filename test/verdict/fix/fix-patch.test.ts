import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import type { TextEdit } from '../../../src/verdict/edit-text.ts'
import { applyFixes, filePatch, fixPatch } from '../../../src/verdict/fixes.ts'

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-patch-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** What git makes of the file with these patches, one after the other. */
function applied(path: string, text: string, patches: readonly (readonly string[])[]): string {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  for (const patch of patches) {
    execFileSync('git', ['apply', '-'], {
      cwd: folder,
      input: `${patch.join('\n')}\n`,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
  }
  return readFileSync(file, 'utf8')
}

const edit = (first: number, last: number, ...lines: string[]): TextEdit => ({ first, last, lines })
const by = (text: string, edits: readonly TextEdit[]) => applyFixes(text, edits as never)

describe('git apply makes of the patch of a whole file what it becomes', () => {
  const lines = (...words: string[]) => words.map(word => `${word}\n`).join('')
  const many = lines(...Array.from({ length: 12 }, (_, at) => `line ${at}`))
  test.for<[string, string | undefined, string | undefined]>([
    ['a new file', undefined, lines('a', 'b')],
    ['a new file without a newline', undefined, 'a'],
    ['a deleted file', lines('a', 'b'), undefined],
    ['a line in the middle', many, many.replace('line 6', 'other')],
    ['a line at the end', many, `${many}more\n`],
    ['a line at the beginning', many, `more\n${many}`],
    ['the newline at the end', 'a\nb', 'a\nb\n'],
    ['repeated lines', lines('a', 'a', 'a'), lines('a', 'a')],
    ['everything', lines('a', 'b'), lines('c')],
  ])('%s', ([, before, after]) => {
    const file = join(folder, 'whole.yaml')
    rmSync(file, { force: true })
    if (before !== undefined) writeFileSync(file, before)
    const input = `${filePatch('whole.yaml', before, after).join('\n')}\n`
    execFileSync('git', ['apply', '-'], { cwd: folder, input })
    expect(existsSync(file) ? readFileSync(file, 'utf8') : undefined).toBe(after)
  })
})

describe('git apply makes of a patch what the edit makes', () => {
  test.for([
    'base/deployment.yaml',
    'with space/a b.yaml',
    'quote"and\\back.yaml',
    'ümläut/ключ.yaml',
    'tab\tname.yaml',
    '-dash.yaml',
  ])('in a file called %j', path => {
    const text = 'a: 1\nb: 2\nc: 3\n'
    const one = edit(2, 2, 'b: 4')
    const patch = fixPatch({ path, text, edits: [one] }, one)
    expect(applied(path, text, [patch!])).toBe('a: 1\nb: 4\nc: 3\n')
  })

  test.for<[string, string, TextEdit]>([
    ['the first line', 'a: 1\nb: 2\nc: 3\nd: 4\ne: 5\n', edit(1, 1, 'a: 2')],
    ['the last line', 'a: 1\nb: 2\nc: 3\nd: 4\ne: 5\n', edit(5, 5, 'e: 6')],
    ['a last line without a newline', 'a: 1\nb: 2', edit(2, 2, 'b: 3')],
    ['the line before it', 'a: 1\nb: 2\nc: 3', edit(2, 2, 'b: 3', 'x: 1')],
    ['the only line', 'a: 1\n', edit(1, 1, 'a: 2')],
    ['several lines that go', 'a: 1\nb:\n  c: 1\n  d: 1\ne: 1\n', edit(2, 4)],
    ['a line below a credential', 'a: 1\npassword: hunter2\nb: 2\nc: 3\n', edit(3, 3, 'b: 3')],
  ])('%s', ([, text, one]) => {
    const patch = fixPatch({ path: 'x.yaml', text, edits: [one] }, one)
    expect(applied('x.yaml', text, [patch!])).toBe(by(text, [one]))
    expect(patch!.join('\n')).not.toContain('hunter2')
  })

  test('in any order, where a file has several edits', () => {
    const lines = fc.array(
      fc.stringMatching(/^ {0,4}[a-d]: (?:[a-z]{0,3}|```|<!--|@@ -1 \+1 @@|--- a\/x|\+\+\+|\\ No newline)$/),
      {
        minLength: 3,
        maxLength: 14,
      },
    )
    const place = fc.tuple(fc.nat(13), fc.nat(1), fc.constantFrom([], ['new: 1'], ['new: 1', 'more: 2']))
    fc.assert(
      fc.property(
        lines,
        fc.array(place, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        fc.boolean(),
        (all, places, ends, turned) => {
          const text = `${all.join('\n')}${ends ? '\n' : ''}`
          const edits: TextEdit[] = []
          for (const [at, more, instead] of places.sort((a, b) => a[0] - b[0])) {
            const [first, last] = [at + 1, at + 1 + more]
            if (last > all.length || first <= (edits.at(-1)?.last ?? -1) + 1) continue
            // an edit of a field never takes the last line with its newline alone
            if (instead.length === 0 && (last === all.length || first === 1)) continue
            edits.push(edit(first, last, ...instead))
          }
          const patches = edits.map(one => fixPatch({ path: 'x.yaml', text, edits }, one))
          if (patches.includes(undefined)) return
          const order = patches as (readonly string[])[]
          expect(applied('x.yaml', text, turned ? order.toReversed() : order)).toBe(by(text, edits))
        },
      ),
      { numRuns: 120 },
    )
  })
})

describe('a patch is not shown', () => {
  const patched = (text: string, one: TextEdit) => fixPatch({ path: 'x.yaml', text, edits: [one] }, one)
  const secret = 'apiVersion: v1\nkind: Secret\nstringData:\n  a: b\n'

  test.for<[string, string, TextEdit]>([
    ['of a credential', 'a: 1\npassword: hunter2\nb: 2\n', edit(2, 2)],
    ['above a credential only', 'a: 1\npassword: hunter2\nb: 2\n', edit(1, 1, 'a: 2')],
    ['of a Secret', `${secret}---\na: 1\n`, edit(4, 4, '  a: c')],
    [
      'with a Secret in its list',
      `kind: List\nitems:\n- ${secret.trimEnd().replaceAll('\n', '\n  ')}\n`,
      edit(1, 1, 'kind: Lists'),
    ],
    [
      'beside a generator of Secrets',
      'namespace: a\nsecretGenerator:\n- literals: [x=y]\nz: 1\n',
      edit(1, 1, 'namespace: b'),
    ],
    [
      'beside a patch of a Secret',
      'namespace: a\npatches:\n- patch: |-\n    kind: Secret\n    data: {a: b}\nz: 1\n',
      edit(1, 1, 'namespace: b'),
    ],
    ['with characters that hide text', 'a: 1\nb: "\u202e"\nc: 1\n', edit(2, 2, 'b: 1')],
    ['that is longer than 80 lines', `${'a: 1\n'.repeat(81)}b: 1\n`, edit(1, 81)],
    ['that writes what hides text', 'a: 1\nb: 1\n', edit(1, 1, 'a: \u200b')],
  ])('%s', ([, text, one]) => {
    expect(patched(text, one)).toBeUndefined()
  })

  test('but a Secret in another document of the file hides its own lines only', () => {
    const text = `${secret}---\na: 1\nb: 2\n`
    const patch = patched(text, edit(6, 6, 'a: 3'))
    expect(patch?.join('\n')).toContain('-a: 1\n+a: 3\n b: 2')
    expect(patch?.join('\n')).not.toContain('stringData')
    expect(applied('x.yaml', text, [patch!])).toBe(text.replace('a: 1', 'a: 3'))
  })

  test('80 lines are shown', () => {
    expect(patched(`${'a: 1\n'.repeat(80)}b: 1\n`, edit(1, 80))).toHaveLength(80 + 4)
  })
})
