import { expect, test } from 'vitest'
import { appendDecisions, readLastFile } from '../../../src/verdict/append-decisions.ts'
import { gapDecision } from '../../../src/verdict/trail-entry.ts'
import { verifyTrail } from '../../../src/verdict/verify-trail.ts'
import { decision } from './decisions.ts'

const first = appendDecisions([decision(1), decision(2)], undefined, [])!
const second = appendDecisions([decision(3), decision(4)], first.head, [])!
const end = readLastFile(second.file)

test('the last file tells where the next one continues', () => {
  expect(end.head).toEqual(second.head)
  expect(end.entries.map(({ seq }) => seq)).toEqual([3, 4])
})

test.each([
  ['cut', second.file.bytes.subarray(0, -1)],
  ['empty', new Uint8Array()],
  ['not UTF-8', Buffer.concat([second.file.bytes, Buffer.from([0xff, 0x0a])])],
  ['out of order', Buffer.from(Buffer.from(second.file.bytes).toString().split('\n').reverse().join('\n').slice(1))],
])('a file that is %s is refused', (_, bytes) => {
  expect(() => readLastFile({ path: second.file.path, bytes })).toThrow(
    expect.objectContaining({ code: 'git-corrupt' }),
  )
})

test('a file under another name is refused', () => {
  expect(() => readLastFile({ ...second.file, path: 'trail/0000000004.jsonl' })).toThrow('not as it was written')
})

test('decisions that could not wait are an entry that says how many', () => {
  const about = { who: 'bailiwick[bot]', repository: 'acme/fleet', engine: '5', at: '2026-01-01T00:00:00.000Z' }
  const appended = appendDecisions([decision(1), gapDecision(12, about)], undefined, [])!
  const { entries, problems } = verifyTrail([appended.file])
  expect(problems).toEqual([])
  expect(entries[1]).toMatchObject({ kind: 'gap', result: '12 lost' })
})
