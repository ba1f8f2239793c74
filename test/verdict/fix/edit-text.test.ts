import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonical } from '../../../src/kube/node.ts'
import { parseText } from '../../../src/kube/yaml/parse-documents.ts'
import type { Edit } from '../../../src/rules/model/finding.ts'
import { editText } from '../../../src/verdict/edit-text.ts'

type EditPlace = Parameters<typeof editText>[1]

/** The text after the edit; undefined where it is not certain. `|` in `text` marks the place that the finding names. */
function edit(marked: string, field: string, change: Edit): string | undefined {
  const offset = marked.indexOf('|')
  const text = marked.replace('|', '')
  const before = text.slice(0, offset).split('\n')
  const place: EditPlace = { field, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
  const made = editText(text, place, change)
  if (!made) return undefined
  const lines = text.split('\n')
  return [...lines.slice(0, made.first - 1), ...made.lines, ...lines.slice(made.last)].join('\n')
}

const remove: Edit = { remove: true }

describe('removing a field', () => {
  test('a scalar goes with its line and the comment behind it', () => {
    const text = 'kind: A\nspec:\n  insecure: |true # for now\n  url: x\n'
    expect(edit(text, '/spec/insecure', remove)).toBe('kind: A\nspec:\n  url: x\n')
  })

  test('a map or a list goes with everything in it', () => {
    expect(edit('a:\n  |x:\n    b: 1\n\n    c: 2\n  y: 1\n', '/a/x', remove)).toBe('a:\n  y: 1\n')
    expect(edit('a:\n  |x:\n  - b: 1\n  - c\n  y: 1\n', '/a/x', remove)).toBe('a:\n  y: 1\n')
  })

  test('the last label takes labels with it', () => {
    const text = 'metadata:\n  name: x\n  labels:\n    a/b: |"1"\nspec: {}\n'
    expect(edit(text, '/metadata/labels/a~1b', remove)).toBe('metadata:\n  name: x\nspec: {}\n')
  })

  test('in flow style, with its comma', () => {
    expect(edit('spec: {x: |1, y: 2} # why\n', '/spec/x', remove)).toBe('spec: {y: 2} # why\n')
    expect(edit('spec: {y: 2, "x": |"1"}\n', '/spec/x', remove)).toBe('spec: {y: 2}\n')
    expect(edit('spec: {x: |1}\n', '/spec/x', remove)).toBe('spec: {}\n')
  })

  test.for([
    ['the only field of a map', 'spec:\n  x: |1\n', '/spec/x'],
    ['a map in flow style', 'spec: {|x: {a: 1}, y: 2}\n', '/spec/x'],
    ['what flow style writes over two lines', 'spec: {x: |a\n  b, y: 2}\n', '/spec/x'],
    ['the first field of a list item', 'l:\n  - x: |1\n    y: 2\n', '/l/0/x'],
    ['what an alias repeats', 'a: &a\n  x: |1\n  y: 1\nb: *a\n', '/a/x'],
    ['an anchor that is used elsewhere', 'a:\n  x: &v |1\n  y: *v\n', '/a/x'],
    ['what a merge key brings', 'a: &a\n  x: |1\n  z: 1\nb:\n  <<: *a\n', '/a/x'],
    ['lines that end like on Windows', 'a: 1\r\nb: |2\r\n', '/b'],
    ['text that cannot be read', 'a: 1\na: |2\n', '/a'],
    ['another place', 'a: 1\n|b: 2\n', '/a'],
  ])('%s is left to people', ([, text, field]) => {
    expect(edit(text!, field!, remove)).toBeUndefined()
  })
})

describe('setting a field', () => {
  test('only the value changes, quotes and all', () => {
    expect(edit("x: |'old'  # why\ny: 1\n", '/x', { set: 'new' })).toBe('x: new  # why\ny: 1\n')
    expect(edit('x: |true\n', '/x', { set: 'false' })).toBe('x: false\n')
    expect(edit('l:\n  - x: |a\n', '/l/0/x', { set: 'b' })).toBe('l:\n  - x: b\n')
  })

  test('of an operation of a patch it is the value, which is never removed', () => {
    const text = '- op: replace\n  path: /metadata/namespace\n  value: |apps\n'
    expect(edit(text, '/metadata/namespace', { set: 'ops' })).toBe(text.replace('|apps', 'ops'))
    expect(edit(text, '/metadata/namespace', remove)).toBeUndefined()
    expect(edit(text, '/metadata/name', { set: 'ops' })).toBeUndefined()
    expect(edit(text.replace('- op: replace\n  ', '- '), '/metadata/namespace', { set: 'ops' })).toBeUndefined()
  })

  test.for([
    ['a block of lines', 'x: ||\n  a\n', 'b'],
    ['a value that needs quotes', 'x: |a\n', 'b: c'],
    ['a value that is another type', 'x: |a\n', '1'],
    ['a value over two lines', 'x: |a\n  b\n', 'c'],
  ])('%s is left to people', ([, text, value]) => {
    expect(edit(text!, '/x', { set: value! })).toBeUndefined()
  })
})

describe('adding a field', () => {
  test('it stands before the first one of its map', () => {
    const text = 'kind: K\n|spec:\n  # how often\n  interval: 5m\n'
    const after = 'kind: K\nspec:\n  # how often\n  serviceAccountName: dev-team\n  interval: 5m\n'
    expect(edit(text, '/spec/serviceAccountName', { add: 'dev-team' })).toBe(after)
  })

  test('in flow style, too, and as JSON where the file is', () => {
    const field = '/metadata/namespace'
    expect(edit('|metadata: {name: a}\n', field, { add: 'ops' })).toBe('metadata: {namespace: ops, name: a}\n')
    expect(edit('{|"metadata": {"name": "a"}}\n', field, { add: 'ops' })).toBe(
      '{"metadata": {"namespace": "ops", "name": "a"}}\n',
    )
    expect(edit('spec: {|a: 1}\n', '/spec/a', { rename: 'b' })).toBe('spec: {b: 1}\n')
  })

  test.for([
    ['an empty map', '|spec: {}\n'],
    ['nothing there', '|spec:\n'],
    ['a field that is there', '|spec:\n  x: 1\n  y: 2\n'],
  ])('%s is left to people', ([what, text]) => {
    const field = what === 'a field that is there' ? '/spec/x' : '/spec/z'
    expect(edit(text!, field, { add: 'v' }) === undefined).toBe(true)
  })
})

test('whatever the text, an edit that is offered changes exactly one field', () => {
  const line = fc.stringMatching(/^ {0,4}(?:- )?(?:[a-c]:)?(?: [&*]?[xy"'{[|>]?[a-z0-9]*)?$/)
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), fc.nat(7), fc.nat(8), (lines, row, column) => {
      const text = lines.join('\n')
      for (const name of ['a', 'b', 'c']) {
        const made = editText(text, { field: `/${name}`, line: row + 1, column: column + 1 }, remove)
        if (!made) continue
        const read = (of: string) =>
          parseText(of, (l, c) => ({ repository: '', file: '', line: l, column: c }))
            .documents.map(canonical)
            .join('\n')
        const after = [...lines.slice(0, made.first - 1), ...made.lines, ...lines.slice(made.last)].join('\n')
        expect(read(after).length).toBeLessThan(read(text).length)
      }
    }),
    { numRuns: 500 },
  )
})
