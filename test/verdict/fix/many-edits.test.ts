import { expect, test } from 'vitest'
import { editText } from '../../../src/verdict/edit-text.ts'
import { fixPatch } from '../../../src/verdict/fixes.ts'
import { countCalls } from './count-calls.ts'

test('300 edits of one file read the file twice, and each parses and searches the document that it edits', async () => {
  const all = Array.from({ length: 300 }, (_, at) => `---\nkind: A\nmetadata:\n  name: n${at}\n  namespace: b\n`)
  const text = all.join('')
  const [parsed, searched] = await countCalls(['parseDocument', 'visit'], () => {
    const edits = all.flatMap((_, at) => {
      const place = { field: '/metadata/namespace', line: at * 5 + 5, column: 14 }
      return editText(text, place, { set: 'apps' }) ?? []
    })
    expect(edits).toHaveLength(300)
    for (const one of edits) expect(fixPatch({ path: 'a.yaml', text, edits }, one)).toContain('+  namespace: apps')
  })
  expect(parsed).toBeGreaterThan(600)
  expect(parsed).toBeLessThan(2_000)
  expect(searched).toBeLessThan(4_000)
})

test.each([
  ['after another one', 'a: {b: 1}\n---\nkind: |A\n---\nc: 1\n', 3],
  ['that ends with dots', 'kind: |A\n...\n---\nc: 1\n', 1],
  ['between empty ones', '---\n---\nkind: |A\n---\n---\n', 3],
])('a field of a document %s', (_, marked, line) => {
  const text = marked.replace('|', '')
  const column = marked.split('\n')[line - 1]!.indexOf('|') + 1
  expect(editText(text, { field: '/kind', line, column }, { set: 'B' })).toMatchObject({ first: line, last: line })
})
