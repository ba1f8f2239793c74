import { expect, test } from 'vitest'
import { BailiwickError } from '../../src/base/errors.ts'
import { checkRunOf } from '../../src/report/check-run.ts'
import { commentOf } from '../../src/report/comment.ts'
import { fitBudget, sectionOf } from '../../src/report/text/fit-budget.ts'
import { failure, finding, verdict } from './samples.ts'
import { context } from './situations.ts'

/** What is to be read before anything is opened. */
function visibleLines(text: string): string[] {
  let depth = 0
  return text.split('\n').filter(line => {
    const isOpen = depth === 0
    depth += line.split('<details').length - line.split('</details>').length
    return isOpen
  })
}

const all = Array.from({ length: 300 }, (_, index) => index)
const large = verdict({
  result: 'error',
  violations: all.map(index =>
    finding({
      rule: index % 2 ? 'namespace-confinement' : 'plaintext-secret',
      object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'apps', name: `x-${index}` },
      fingerprint: String(index),
    }),
  ),
  warnings: all.map(index => finding({ level: 'warning', message: `warning ${index}`, fingerprint: `w${index}` })),
  errors: all.map(index =>
    failure({ node: `staging/apps/${index}`, message: `error ${index}`, fingerprint: `e${index}` }),
  ),
  clusters: all
    .slice(0, 30)
    .map(index => ({ name: `c-${index}`, path: `clusters/c-${index}`, how: 'layout' as const })),
  tenants: all
    .slice(0, 60)
    .map(index => ({ name: `t-${index}`, clusters: ['c-1'], namespaces: [`n-${index}`], identities: [] })),
  notSeen: all.map(index => ({
    source: `GitRepository/a/${index}`,
    url: `https://github.com/a/${index}`,
    reason: 'x',
  })),
})

test('a change of 300 findings, errors and sources is read in 40 lines, and opened for the rest', () => {
  const { summary } = checkRunOf(large, context)
  const comment = commentOf(large, context)!
  for (const text of [summary, comment]) {
    expect(visibleLines(text).length).toBeLessThanOrEqual(40)
    expect(text.length).toBeLessThan(65_000)
    expect(text.split('<details').length).toBe(text.split('</details>').length)
    // what blocks comes first, and what is folded is counted
    expect(visibleLines(text).join('\n')).toContain('error 0')
    expect(text).toMatch(/<summary>More: \d+ × /)
  }
})

test('what fits is not folded', () => {
  const small = verdict({ result: 'fail', violations: [finding()] })
  expect(checkRunOf(small, context).summary).not.toContain('<summary>More')
  const sections = [
    { text: '### a', label: '' },
    { text: 'one', label: 'x' },
  ]
  expect(fitBudget('head', sections, { lines: 40 })).toBe('head\n\n### a\n\none')
})

test('an error about the whole change is as short', () => {
  const error = new BailiwickError('git-truncated', 'x'.repeat(5000))
  expect(visibleLines(checkRunOf(error, context).summary).length).toBeLessThanOrEqual(40)
})

test('of thousands of sections only those that fit are written', () => {
  let written = 0
  const sections = Array.from({ length: 5_000 }, () =>
    sectionOf('finding', () => {
      written++
      return 'x'.repeat(1_000)
    }),
  )
  expect(fitBudget('Lead', sections)).toContain('× finding')
  expect(written).toBeLessThan(70)
})
