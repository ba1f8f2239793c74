import { describe, expect, test } from 'vitest'
import { parseApplyResults } from '../../src/cluster/channel/apply-results.ts'
import { applyComment } from '../../src/report/apply-comment.ts'
import { applyReport } from '../../src/report/apply-report.ts'
import { type ClusterPage, nodeState } from '../../src/report/cluster-page.ts'
import { renderClusterPage } from '../../src/report/page/render-cluster-page.ts'
import type { EvaluatedNode } from '../../src/rules/model/finding.ts'
import type { Approved } from '../../workers/apply/approved-nodes.ts'
import { attributeResults } from '../../workers/apply/offer-work.ts'

const HERE = 'https://github.com/acme/fleet'
const COMMIT = 'b'.repeat(40)
const EVIL = [
  '[done](https://evil.example) ![x](//evil.example/x.png)',
  '<img src=//evil.example> <a href="//evil.example">x</a> <!-- bailiwick:applied -->',
  '@acme/platform @ada fixes #1 GH-2 https://evil.example www.evil.example',
  '`\n\n# Applied\n- `b`: 3 applied · [details](//evil.example)\n',
  '\r\n| a | b |\n|---|---|\n```\n</details>\n~~~',
  '\u202eb/apps/web\u2066\u200b\ufeff\u001b[31m',
  '&lt;script&gt; <script>alert(1)</script> "><script>alert(1)</script>',
  `✅ b/apps/web ${'`'.repeat(300)}`,
]
const object = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'apps', name: 'settings' }
const times = { count: 1, first: '2026-01-01T00:00:00Z', last: '2026-01-01T00:00:00Z' }

/** A report with this text wherever it may say something. */
const reportOf = (evil: string) => {
  const id = { apiVersion: evil, kind: evil, namespace: evil, name: evil }
  const actions = ['created', 'configured', 'unchanged', 'skipped', 'pruned', 'withheld', 'refused']
  const node = {
    ...{ user: evil, outcome: 'failed', reason: evil, note: evil },
    objects: actions.map(action => ({ object: id, action, message: evil, fields: [{ field: evil }] })),
  }
  const drift = { object: id, change: 'changed', fields: [evil], managers: [evil], ...times }
  return JSON.stringify({
    ...{ revisionSet: 's', isRunning: false, failure: evil },
    applied: ['a/apps/web', 'a/old/gone', 'b/apps/web', 'b/old/gone'].map(key => ({ ...node, key })),
    retries: [{ key: 'b/apps/web', at: '2026-01-01T00:00:00Z' }],
    drift: ['a/apps/web', 'b/apps/web'].map(key => ({ ...drift, node: key })),
  })
}

const evaluated = (key: string) =>
  ({ key, digest: 'd', user: 'u', path: './apps', source: { url: HERE, commit: COMMIT } }) as unknown as EvaluatedNode
const approved = { nodes: [evaluated('a/apps/web')], apply: [evaluated('a/apps/web')], held: [] } as unknown as Approved

function pageOf(cluster: string, text: string, problem: boolean): ClusterPage {
  const results = parseApplyResults(text)
  const applied = attributeResults(cluster, approved, results)
  const facts = { here: HERE, node: approved.nodes[0], repository: HERE, commit: COMMIT, now: times.last }
  return {
    ...{ kind: 'cluster', owner: 'acme', repo: 'fleet', repositoryId: 1, visibility: 'private', repository: HERE },
    ...{ cluster, at: times.last, isRunning: false, ...(problem ? { problem: results.failure! } : {}) },
    nodes: applied.map(one => nodeState(one.key, one, facts, undefined)),
    drift: results.drift.filter(({ node }) => node === 'a/apps/web'),
  }
}

const other: ClusterPage = {
  ...pageOf('a', reportOf('fine'), false),
  cluster: 'b',
  drift: [],
  nodes: [
    nodeState(
      'b/apps/web',
      { key: 'b/apps/web', user: 'u', outcome: 'applied', objects: [{ object, action: 'created' }] },
      { here: HERE, node: evaluated('b/apps/web'), repository: HERE, commit: COMMIT, now: times.last },
      undefined,
    ),
  ],
}
const facts = {
  ...{ here: HERE, commit: COMMIT, authors: new Map() },
  page: (cluster: string) => `https://bailiwick.example/${cluster}`,
}

/** What CommonMark leaves outside of code: a run of backticks ends at the next one of the same length. */
function outsideOfCode(markdown: string): string {
  return markdown.replace(/(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, '').replace(/<code>[^<]*<\/code>/g, '')
}

const OURS =
  /^### |<!-- bailiwick:applied -->|<\/?(?:details|summary)>|\[details]\(https:\/\/bailiwick\.example\/[ab]\)/gm

describe.each(EVIL)('a cluster that says %j', evil => {
  const texts = [true, false].map(problem => applyComment([pageOf('a', reportOf(evil), problem), other], facts)!)
  const check = applyReport('a', attributeResults('a', approved, parseApplyResults(reportOf(evil))), HERE)

  test('writes no link, mention, reference, HTML or line of its own on GitHub', () => {
    for (const text of [...texts, check.summary]) {
      const plain = outsideOfCode(text).replace(OURS, '')
      expect(plain).not.toMatch(/[<>[\]@#|\\]|https?:|www\.|evil|GH-|<!--/)
      const lines = text.split('\n').filter(line => /^(?:#|\||```|~~~|<!--|<\/details>)/.test(line))
      expect(lines.filter(line => !/^### `|^<!-- bailiwick:applied -->$|^<\/details>$/.test(line))).toEqual([])
      for (const hidden of '\u202e\u2066\u200b\ufeff\u001b') expect(text).not.toContain(hidden)
    }
    expect(check.annotations).toEqual([])
    expect(check.title).toMatch(/^[\w ,]+$/)
  })

  test('adds no line of another cluster, and takes none away', () => {
    const fine = applyComment([pageOf('a', reportOf('fine'), false), other], facts)!
    const linesOf = (text: string) => text.split('\n').filter(line => /^- `b`:|^<details><summary>.*b\/apps/.test(line))
    expect(linesOf(fine)).toHaveLength(2)
    for (const text of texts) expect(linesOf(text)).toEqual(linesOf(fine))
    const keys = attributeResults('a', approved, parseApplyResults(reportOf(evil))).map(({ key }) => key)
    expect(keys).toEqual(['a/apps/web', 'a/old/gone'])
  })

  test('writes no HTML on the page', () => {
    const shown = renderClusterPage(pageOf('a', reportOf(evil), true), { page: 1 })
    const fine = renderClusterPage(pageOf('a', reportOf('fine'), true), { page: 1 })
    const tags = (html: string) => html.match(/<[a-z/!][^>]*>/gi)
    expect(tags(shown)).toEqual(tags(fine))
  })
})
