import { expect, test } from 'vitest'
import { appendDecisions, readLastFile, whyNotContinued } from '../../../src/verdict/append-decisions.ts'
import { gapDecision, type TrailFile, type WrittenEnd } from '../../../src/verdict/trail-entry.ts'
import { decision } from './decisions.ts'

const FLEET = 77
const BOT = 'bailiwick[bot]'
const first = appendDecisions([decision(1), decision(2)], undefined, [], FLEET)!
const waiting = [decision(3), decision(4), decision(5)]
const second = appendDecisions([decision(3), decision(4)], first.head, [], FLEET)!
const [FIRST, SECOND, OTHER] = ['1', '2', '3'].map(digit => digit.repeat(40)) as [string, string, string]
const own = (sha: string, parents: readonly string[] = []) => ({
  ...{ sha, parents, author: BOT, committer: 'web-flow', verified: true },
})
const at = (file: TrailFile, commit: ReturnType<typeof own>) => ({ ...readLastFile(file), commit })
const known: WrittenEnd = { ...first.head, commit: FIRST }
const why = (
  present: Parameters<typeof whyNotContinued>[0],
  end: WrittenEnd | undefined,
  open: Parameters<typeof whyNotContinued>[2] = [],
) => whyNotContinued(present, end, open, { slug: 'bailiwick', fleet: FLEET })

test.each([
  ['nothing was written yet', undefined, undefined],
  ['its last commit is the one that was noted', at(first.file, own(FIRST)), known],
  [
    'a server that signs nothing has the commit that was noted',
    at(first.file, { ...own(FIRST), verified: false }),
    known,
  ],
  ['the answer to the last write was lost', at(second.file, own(SECOND, [FIRST])), known],
  ['the store was lost, and the App signed the last commit', at(second.file, own(SECOND, [FIRST])), undefined],
  ['an earlier release noted no commit', at(first.file, own(FIRST)), first.head],
  ['an earlier release noted no commit, and the answer was lost', at(second.file, own(SECOND, [FIRST])), first.head],
])('a trail goes on where %s', (_, present, end) => {
  expect(why(present, end, waiting)).toBeUndefined()
})

const signed = own(SECOND, [FIRST])
const forged = (changes: Parameters<typeof decision>[1]) =>
  at(appendDecisions([decision(3, changes)], first.head, [], FLEET)!.file, signed)

test.each([
  ['the branch is gone', undefined, known, 'the branch is gone'],
  ['a person committed', at(second.file, { ...signed, author: 'mallory' }), known, 'this App did not write'],
  ['nobody signed', at(second.file, { ...signed, verified: false }), known, 'this App did not write'],
  [
    'a person committed, and the store was lost',
    at(second.file, { ...signed, committer: 'eve' }),
    undefined,
    'did not write',
  ],
  ['it was cut', at(first.file, own(FIRST)), { ...second.head, commit: SECOND }, 'it ends at entry 2'],
  // GitHub signs as the App's what people squash from a pull request of the App
  ['a signed commit changes other files only', at(first.file, signed), known, 'it ends at entry 2'],
  ['a waiting decision is forged', forged({ who: 'mallory' }), known, 'it ends at entry 3'],
  ['a waiting decision has another kind', forged({ kind: 'override' }), known, 'it ends at entry 3'],
  ['a decision is new', forged({ id: 'new' }), known, 'it ends at entry 3'],
  ['it has another parent', at(second.file, own(SECOND, [OTHER])), known, 'it ends at entry 4'],
  ['it is a merge', at(second.file, own(SECOND, [FIRST, OTHER])), known, 'it ends at entry 4'],
])('it does not where %s', (_, present, end, said) => {
  expect(why(present, end, waiting)).toContain(said)
})

test('entries of another fleet are not continued, even with a store that was lost', () => {
  const other = appendDecisions([decision(1)], undefined, [], 78)!
  expect(why(at(other.file, own(FIRST)), undefined)).toBe('entry 1 is of another fleet, the repository with the id 78')
})

test('a gap in the write whose answer was lost says how many, and nothing else', () => {
  const about = { who: BOT, repository: 'acme/fleet', engine: '5', at: '2026-01-01T00:00:00.000Z' }
  const gap = gapDecision(12, about)
  const file = (one: typeof gap) => at(appendDecisions([decision(3), one], first.head, [], FLEET)!.file, signed)
  expect(why(file(gap), known, waiting)).toBeUndefined()
  expect(why(file({ ...gap, id: 'gap of mallory' }), known, waiting)).toContain('it ends at entry 4')
})
