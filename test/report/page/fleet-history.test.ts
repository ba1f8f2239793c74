import { expect, test } from 'vitest'
import {
  type FleetHistory,
  type HistoryRow,
  historySection,
  withEntries,
} from '../../../src/report/page/fleet-history.ts'
import { NO_QUERY } from '../../../src/report/page/fleet-query.ts'
import { html } from '../../../src/report/page/html.ts'
import { sampleFleet } from '../../surface/web/sample-pages.ts'

const NONE: FleetHistory = { owner: 'acme', repo: 'fleet', repositoryId: 7, rows: [] }
const row = (seq: number, over: Partial<HistoryRow> = {}): HistoryRow => ({
  ...{ seq, at: '2026-11-23T10:00:00.000Z', kind: 'verdict', who: 'bailiwick[bot]', repository: 'acme/ops-team' },
  ...{ commit: 'c'.repeat(40), pull: 4, result: 'failure', file: 'trail/0000000001.jsonl', line: seq },
  added: 'd'.repeat(40),
  ...over,
})
const section = (history: FleetHistory | undefined, query = {}, page = sampleFleet({ repositoryId: 7 })) =>
  html`${historySection(page, history, { ...NO_QUERY, ...query })}`.toString()

test('the newest entry comes first, each once, and 1,000 are kept', () => {
  const some = withEntries(NONE, [row(1), row(2)])
  expect(withEntries(some, [row(2), row(3)]).rows.map(({ seq }) => seq)).toEqual([3, 2, 1])
  const many = withEntries(
    some,
    Array.from({ length: 1_000 }, (_, at) => row(at + 3)),
  )
  expect([many.rows.length, many.rows[0]?.seq, many.rows.at(-1)?.seq]).toEqual([1_000, 1_002, 3])
  expect(section(many)).toContain('The newest 1,000 of 1,002 entries')
})

test('an entry says what was decided about what, by whom, and leads to its line', () => {
  const text = section(
    withEntries(NONE, [row(1), row(2, { kind: 'override', who: 'max', result: 'done', cluster: 'staging' })]),
  )
  for (const part of [
    `href="https://github.com/acme/fleet/blob/${'d'.repeat(40)}/trail/0000000001.jsonl#L1"`,
    'href="https://github.com/acme/ops-team/pull/4"',
    `href="https://github.com/acme/ops-team/commit/${'c'.repeat(40)}"`,
    '✗ blocked',
    'max',
    'staging',
  ])
    expect(text).toContain(part)
  expect(section(withEntries(NONE, [row(1), row(2, { who: 'max' })]), { text: 'MAX' })).not.toContain('[bot]')
})

test('a trail that is off, empty, stopped or of another repository is said', () => {
  const page = sampleFleet({ repositoryId: 7 })
  expect(section(undefined, {}, { ...page, trail: 'off' })).toContain('The trail is off')
  expect(section(undefined, {}, { ...page, trail: 'on' })).toContain('No entry is stored.')
  expect(section({ ...withEntries(NONE, [row(1)]), stopped: 'commit abc is not ours' })).toContain('✗ stopped')
  expect(withEntries({ ...NONE, stopped: 'x' }, [row(1)]).stopped).toBeUndefined()
  expect(section(withEntries(NONE, [row(1)]), {}, sampleFleet({ repositoryId: 8 }))).toContain('No entry is stored.')
})

test('whatever somebody is called, it ends nothing and stays short', () => {
  const word = `"><script>\u202e${'x'.repeat(9_000)}`
  const text = section(
    withEntries(NONE, [row(1, { who: word, result: word, kind: '__proto__', repository: 'a/b"><i>' })]),
  )
  expect(text).not.toMatch(/<script|<i>|\u202e/)
  expect(text.length).toBeLessThan(3_000)
})
