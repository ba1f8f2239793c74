import { describe, expect, test } from 'vitest'
import type { ReportContext } from '../../../src/report/outcome.ts'
import { checkPageOf } from '../../../src/report/page/build-pages.ts'
import { renderCheckPage } from '../../../src/report/page/render-check-page.ts'
import type { Finding } from '../../../src/rules/model/finding.ts'
import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { FLEET, failure, finding, OPS, verdict } from '../samples.ts'

const place = { owner: 'acme', repo: 'ops-team', check: CHECK_NAME, at: '2026-11-21T20:00:00.000Z' }
const context: ReportContext = { kind: 'pull-request', repository: OPS, headSha: 'a'.repeat(40) }

/** The page of findings in files with these texts. */
function pageOf(files: Record<string, string>, violations: readonly Finding[], more: Partial<ReportContext> = {}) {
  const asked: string[] = []
  const read = (path: string) => {
    asked.push(path)
    return files[path]
  }
  const page = checkPageOf(verdict({ result: 'fail', violations }), { ...context, ...more }, place, read)
  return { page, asked, html: renderCheckPage(page) }
}

const at = (file: string, line: number, column: number, over: Partial<Finding> = {}) =>
  finding({ origin: { repository: OPS, file, line, column }, ...over })
const TEXT = 'a: 1\nb: 2\nc: 3\nmetadata:\n  namespace: apps # moved\n  name: x\nd: 4\ne: 5\n'

describe('a finding on the page of a commit', () => {
  test('has the lines around its value, with their numbers and the value marked', () => {
    const { page, html } = pageOf({ 'x.yaml': TEXT }, [at('x.yaml', 5, 14)])
    expect(page.excerpts).toEqual([
      {
        ...{ file: 'x.yaml', line: 5, column: 14, first: 2, mark: { start: 13, end: 17 } },
        lines: ['b: 2', 'c: 3', 'metadata:', '  namespace: apps # moved', '  name: x', 'd: 4', 'e: 5'],
      },
    ])
    expect(html).toContain('<span class="number">5</span>  namespace: <mark>apps</mark> # moved</span>')
    expect(html).toContain('aria-label="x.yaml, lines 2 to 8"')
  })

  test('at the edges of a file has fewer lines', () => {
    const first = pageOf({ 'x.yaml': TEXT }, [at('x.yaml', 1, 4)]).page.excerpts?.[0]
    expect([first?.first, first?.lines.length]).toEqual([1, 4])
    const last = pageOf({ 'x.yaml': TEXT }, [at('x.yaml', 8, 4)]).page.excerpts?.[0]
    expect([last?.first, last?.lines]).toEqual([5, ['  namespace: apps # moved', '  name: x', 'd: 4', 'e: 5']])
  })

  test('on several clusters is there once, and names them', () => {
    const on = (cluster: string) => at('x.yaml', 5, 14, { cluster, fingerprint: cluster })
    const few = pageOf({ 'x.yaml': TEXT }, ['b', 'a'].map(on))
    expect(few.page.excerpts).toHaveLength(1)
    expect(few.html).toContain('<p class="dim small">Same on 2 clusters: a, b</p>')
    const many = pageOf({ 'x.yaml': TEXT }, ['a', 'b', 'c', 'd'].map(on)).html
    expect(many.match(/<article class="finding">/g)).toHaveLength(1)
    expect(many).toContain('<summary>Same on 4 clusters</summary><p>a, b, c, d</p>')
  })
})

describe('source lines are not on the page', () => {
  const secret = 'kind: Secret\napiVersion: v1\nstringData:\n  a: hunter2\n'

  test.for<[string, string, Finding]>([
    ['of a Secret', secret, at('x.yaml', 1, 7)],
    [
      'of a patch of a Secret',
      '- op: add\n  value: hunter2\n',
      at('x.yaml', 2, 10, { object: { apiVersion: 'v1', kind: 'Secret', namespace: 'a', name: 'b' } }),
    ],
    ['with a credential', 'token: hunter2\n', at('x.yaml', 1, 8)],
    ['of a file that cannot be parsed and may have a Secret', 'kind: Secret\na: [\n hunter2\n', at('x.yaml', 3, 2)],
    ['behind the end of the line', 'a: hunter2\n', at('x.yaml', 1, 80)],
    ['of a file that is gone', '', at('gone.yaml', 1, 1)],
    ['of existing findings', 'a: hunter2\n', at('x.yaml', 1, 4, { state: 'standing' })],
    ['longer than 400 characters', `a: hunter2${'x'.repeat(391)}\n`, at('x.yaml', 1, 4)],
  ])('%s', ([, text, one]) => {
    const { page, html } = pageOf({ 'x.yaml': text }, [one])
    expect(page.excerpts).toBeUndefined()
    expect(html).not.toContain('hunter2')
  })

  test('of another repository, whose file is not even read', () => {
    const other = finding({ origin: { repository: FLEET, file: 'x.yaml', line: 1, column: 1 } })
    expect(pageOf({ 'x.yaml': TEXT }, [other])).toMatchObject({ asked: [], page: { verdict: {} } })
  })

  test("of another tenant's finding, on the page of a tenant", () => {
    const foreign = at('other/x.yaml', 5, 14, { tenant: 'dev-team' })
    const { page, asked } = pageOf({ 'other/x.yaml': TEXT }, [foreign], { audience: ['ops-team'] })
    expect([page.excerpts, asked]).toEqual([undefined, []])
  })

  test('of a Secret or a credential beside the value: the line says so', () => {
    const text = `a: 1\npassword: hunter2\nb: 2\n---\n${secret}`
    const { html, page } = pageOf({ 'x.yaml': text }, [at('x.yaml', 3, 4)])
    expect(page.excerpts?.[0]?.lines).toEqual(['a: 1', null, 'b: 2', null, null, null])
    expect(html).toContain('<span class="number">2</span>(not shown)</span>')
    expect(html).not.toContain('hunter2')
  })
})

test('100 places have lines, and the page says that there are more', () => {
  const texts = (count: number) => {
    const all = Array.from({ length: count }, (_, index) =>
      at('x.yaml', index + 1, 4, { cause: `${index}`, fingerprint: `${index}` }),
    )
    return pageOf({ 'x.yaml': 'a: 1\n'.repeat(count) }, all)
  }
  expect(texts(100).html).not.toContain('Source lines are shown')
  const { page, html } = texts(101)
  expect([page.excerpts?.length, page.left.excerpts]).toEqual([100, 1])
  expect(html).toContain('Source lines are shown for the first 100 places.')
})

test('an error has its lines, too', () => {
  const one = failure({ origin: { repository: OPS, file: 'x.yaml', line: 5, column: 14 } })
  const page = checkPageOf(verdict({ result: 'error', errors: [one] }), context, place, () => TEXT)
  expect(renderCheckPage(page)).toContain('<mark>apps</mark>')
})

test('the edit is a diff that one click selects', () => {
  const one = at('x.yaml', 5, 14)
  const patch = [
    '--- a/x.yaml',
    '+++ b/x.yaml',
    '@@ -5,2 +5,2 @@',
    '-  namespace: apps',
    '+  namespace: ops',
    '   name: x',
  ]
  const fixes = [{ path: 'x.yaml', first: 5, last: 5, lines: [], before: [], id: 'x', findings: [one], patch }]
  const page = checkPageOf(verdict({ result: 'fail', violations: [one] }), context, { ...place, fixes })
  const html = renderCheckPage(page)
  const [, block = ''] = /<pre class="diff copy"[^>]*>([\s\S]*?)<\/pre>/.exec(html) ?? []
  expect(block.replace(/<[^>]*>/g, '')).toBe(`${patch.join('\n')}\n`)
})

test('the pull request, its author and its branches are named, and link to GitHub', () => {
  const pull = { number: 7, title: 'Move <b>', author: 'dora', head: 'feature/x', base: 'main' }
  const html = renderCheckPage(checkPageOf(verdict(), context, { ...place, pull }))
  expect(html).toContain(`<a href="${OPS}/pull/7">#7 Move &lt;b&gt;</a>`)
  expect(html).toContain('<dt>Author</dt><dd>dora</dd>')
  expect(html).toContain('<code>feature/x</code> into <code>main</code>')
})
