import { describe, expect, test } from 'vitest'
import {
  type FleetPulls,
  type PullRow,
  pullsSection,
  settledPulls,
  visiblePulls,
  withoutPull,
  withPull,
} from '../../../src/report/page/fleet-pulls.ts'
import { NO_QUERY } from '../../../src/report/page/fleet-query.ts'
import { html } from '../../../src/report/page/html.ts'
import { sampleFleet } from '../../surface/web/sample-pages.ts'

const NONE: FleetPulls = { owner: 'acme', repo: 'fleet', repositoryId: 7, rows: [], left: 0 }
const AT = '2026-11-23T10:00:00.000Z'

const row = (number: number, over: Partial<PullRow> = {}): PullRow => ({
  ...{
    owner: 'acme',
    repo: 'ops-team',
    number,
    title: `change ${number}`,
    author: 'dora',
    base: 'main',
    isDraft: false,
  },
  ...{ headSha: 'a'.repeat(40), tenants: ['ops-team'], visibility: 'private' },
  verdict: {
    conclusion: 'success',
    isError: false,
    title: 'No violations',
    at: AT,
    path: `/checks/acme/ops-team/${number}`,
  },
  ...over,
})
const failing = (number: number, isError = false) =>
  row(number, { verdict: { conclusion: 'failure', isError, title: 'blocked', at: AT } })
const numbers = ({ rows }: FleetPulls) => rows.map(({ number }) => number)
const section = (pulls: FleetPulls | undefined, query = {}, page = sampleFleet({ repositoryId: 7 })) =>
  html`${pullsSection(page, pulls, { ...NO_QUERY, ...query })}`.toString()

describe('the open pull requests of a fleet', () => {
  test('what was not evaluated comes first, then what is blocked, then what passes; one row each', () => {
    let pulls = NONE
    for (const one of [row(1), failing(2), row(3), failing(4, true), row(3), row(1)]) pulls = withPull(pulls, one)
    expect(numbers(pulls)).toEqual([4, 2, 1, 3])
    expect(numbers(withoutPull(pulls, { owner: 'ACME', repo: 'Ops-Team', number: 2 }))).toEqual([4, 1, 3])
    expect(numbers(withoutPull(pulls, { owner: 'acme', repo: 'dev-team', number: 2 }))).toEqual([4, 2, 1, 3])
  })

  test('GitHub’s list decides which are open; a verdict about an earlier commit says so, and a missing one', () => {
    const stored = [row(1), row(2), failing(3)].reduce(withPull, NONE)
    const open = [1, 3, 4].map(number => row(number, { title: `renamed ${number}`, tenants: [] }))
    const listed = open.map(({ verdict: _, ...rest }) => ({
      ...rest,
      ...(rest.number === 3 ? { headSha: 'b'.repeat(40) } : {}),
    }))
    const pulls = settledPulls(stored, listed, AT)
    expect(pulls.listedAt).toBe(AT)
    expect(
      pulls.rows.map(({ number, title, tenants, isOutdated = false }) => [number, title, tenants, isOutdated]),
    ).toEqual([
      [3, 'renamed 3', ['ops-team'], true],
      [4, 'renamed 4', [], false],
      [1, 'renamed 1', ['ops-team'], false],
    ])
    const text = section(pulls)
    expect(text).toContain('The verdict is about an earlier commit.')
    expect(text).toContain('? not stored')
    expect(text).toContain('GitHub listed them <time')
    // the same head is listed again: still outdated until it is evaluated
    expect(settledPulls(pulls, listed, AT).rows[0]?.isOutdated).toBe(true)
    expect(withPull(pulls, failing(3)).rows[0]?.isOutdated).toBeUndefined()
  })

  test('1,000 are stored, and what blocks is left out last', () => {
    const many = Array.from({ length: 1_000 }, (_, at) => row(at + 1))
    const pulls = settledPulls(withPull(NONE, failing(5_000)), [...many, failing(5_000)], AT)
    expect(pulls.rows).toHaveLength(1_000)
    expect([pulls.rows[0]?.number, pulls.left]).toEqual([5_000, 1])
    const text = section(pulls)
    expect(text).toContain('1 more are not stored for this page.')
    expect(text.length).toBeLessThan(30_000)
  })

  test('rows that were stored for fewer people than see the page now are not shown', () => {
    const pulls = [row(1), row(2, { visibility: 'internal' }), row(3, { visibility: 'public' })].reduce(withPull, NONE)
    expect(visiblePulls(pulls, 'private').map(({ number }) => number)).toEqual([1, 2, 3])
    expect(visiblePulls(pulls, 'internal').map(({ number }) => number)).toEqual([2, 3])
    expect(visiblePulls(pulls, 'public').map(({ number }) => number)).toEqual([3])
    expect(section(pulls, {}, { ...sampleFleet({ repositoryId: 7 }), visibility: 'public' })).not.toContain('change 1')
  })

  test('another repository of that name does not get them', () => {
    const pulls = withPull(NONE, row(1))
    expect(section(pulls)).toContain('change 1')
    expect(section(pulls, {}, sampleFleet({ repositoryId: 8 }))).toContain('No open pull request is stored.')
  })

  test.each([
    [{ state: 'blocked' }, [2, 4]],
    [{ state: 'passed' }, [1]],
    [{ state: 'error' }, [4]],
    [{ state: 'waived' }, [1, 2, 4]],
    [{ text: 'CHANGE 2' }, [2]],
    [{ text: 'ops-team#1' }, [1]],
    [{ tenant: 'ops-team' }, [1, 2, 4]],
    [{ tenant: 'dev-team' }, []],
  ])('filtered by %j', (query, expected) => {
    const text = section([row(1), failing(2), failing(4, true)].reduce(withPull, NONE), query)
    expect([1, 2, 4].filter(number => text.includes(`change ${number}`))).toEqual(expected)
  })

  test('a row leads to GitHub and to the page of its verdict, whatever it is called', () => {
    const title = `</th><script>alert(1)</script>\u202e${'x'.repeat(9_000)}`
    const text = section(withPull(NONE, row(5, { title, author: '<b>', tenants: ['"><i>'] })))
    expect(text).toContain('href="https://github.com/acme/ops-team/pull/5"')
    expect(text).toContain('href="/checks/acme/ops-team/5"')
    expect(text).not.toMatch(/<script|<b>|<i>|\u202e/)
    expect(text.length).toBeLessThan(4_000)
  })
})
