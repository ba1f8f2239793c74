import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../../src/base/errors.ts'
import type { ReportContext } from '../../../src/report/outcome.ts'
import { checkPageOf } from '../../../src/report/page/build-pages.ts'
import type { CheckPage } from '../../../src/report/page/check-page.ts'
import type { FleetPage } from '../../../src/report/page/fleet-page.ts'
import { NO_QUERY } from '../../../src/report/page/fleet-query.ts'
import { homePage } from '../../../src/report/page/home-page.ts'
import { html } from '../../../src/report/page/html.ts'
import { renderCheckPage } from '../../../src/report/page/render-check-page.ts'
import { renderFleetPage } from '../../../src/report/page/render-fleet-page.ts'
import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { node, sampleFleet, samplePage } from '../../surface/web/sample-pages.ts'
import { FLEET, failure, finding, HOSTILE, hostile, OPS, overLong, verdict } from '../samples.ts'

const SHA = 'a'.repeat(40)
const place = { owner: 'acme', repo: 'ops-team', check: CHECK_NAME, at: '2026-11-21T20:00:00.000Z' }
const context: ReportContext = { kind: 'pull-request', repository: OPS, headSha: SHA }

/** Every tag of a page, with its attributes as they were written. */
const tagsOf = (page: string) => [...page.matchAll(/<\/?[a-zA-Z][^>]*>/g)].map(([tag]) => tag)

/** The same page with another text everywhere gives the same tags but for values of attributes. */
const shapeOf = (page: string) => tagsOf(page).map(tag => tag.replace(/"[^"]*"/g, '""'))

const deepReplace = (value: unknown, from: string, to: string): unknown => {
  if (typeof value === 'string') return value.replaceAll(from, to)
  if (Array.isArray(value)) return value.map(one => deepReplace(one, from, to))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, deepReplace(one, from, to)]))
}

/** A page on which every text that somebody else may choose is one word. */
function pageWith(word: string): CheckPage {
  const id = { apiVersion: word, kind: word, namespace: word, name: word }
  const origin = { repository: OPS, file: word, line: 3, column: 1 }
  const texts = { cluster: word, tenant: word, message: word, fix: word, node: word, origin }
  const own = node({ key: word, cluster: word, namespace: word, name: word, tenant: word, user: word })
  const counts = { added: 1, changed: 0, replaced: 0, moved: 0, removed: 0, deleted: 1 }
  const fields = [
    { path: word, change: 'changed', was: word, now: word },
    { path: word, change: 'changed', lines: [`+${word}`, `-${word}`] },
  ] as const
  const object = { id, change: 'removed', fate: 'deleted', fields, fieldCount: 2 } as const
  const page = checkPageOf(
    verdict({
      result: 'fail',
      clusters: [{ name: word, path: word, how: 'layout' }],
      tenants: [{ name: word, clusters: [word], namespaces: [word], identities: [word] }],
      violations: [
        finding({ ...texts, identity: word, object: id, field: word, via: [{ step: 'patch', file: word, line: 1 }] }),
      ],
      errors: [failure(texts)],
      notSeen: [{ source: word, url: word, reason: word }],
    }),
    {
      ...context,
      nodes: [own, node({ ...own, key: 'child', parent: word, source: { ...own.source, opaque: word, url: word } })],
    },
    place,
  )
  const identity = { was: word, now: word }
  const change = { node: word, cluster: word, namespace: word, name: word, tenant: word, change: 'changed' } as const
  const patch = [`--- a/${word}`, `+++ b/${word}`, '@@ -3,1 +3,1 @@', `-${word}`, `+${word}`]
  const edit = { path: word, first: 3, last: 3, lines: [word], before: [word], id: word, patch }
  return {
    ...page,
    title: word,
    pull: { number: 7, title: word, author: word, head: word, base: word },
    commit: { branch: word, subject: word, author: word, pulls: [{ number: 7, title: word, author: word }] },
    excerpts: [{ file: word, line: 3, column: 1, first: 1, lines: [word, null, word], mark: { start: 0, end: 1 } }],
    fixes: [{ ...edit, findings: [finding(texts)] }],
    decisions: {
      hold: { by: word },
      override: { by: word, reason: word },
      missing: [{ rule: word, message: word, fix: word }],
      worse: [],
    },
    changes: {
      nodes: [
        {
          ...change,
          sources: [],
          suspended: true,
          prune: true,
          identity,
          counts,
          objects: [object],
          images: [{ was: word, now: word, objects: [] }],
        },
      ],
      rights: [
        {
          cluster: word,
          tenant: word,
          subject: word,
          namespace: word,
          gains: [{ verbs: [word], resource: word, names: [word] }],
          loses: [],
          unknown: [word],
        },
      ],
      tenants: [
        { name: word, change: 'added', clusters: [], namespaces: [word], left: { clusters: 0, namespaces: 0 } },
      ],
      clusters: [{ name: word, change: 'added' }],
      totals: counts,
      hidden: 1,
      left: { nodes: 0, objects: 0, fields: 0, rights: 0, tenants: 0, clusters: 0 },
    },
  }
}

function fleetWith(word: string): FleetPage {
  const origin = { repository: FLEET, file: word, line: 2, column: 1 }
  const right = { subject: word, binding: word, role: word, clusterWide: true, madeBy: 'fleet', origin } as const
  const repository = { url: word, ref: word, path: word, notSeen: word }
  const changer = {
    kind: word,
    namespace: word,
    name: word,
    repository,
    tenant: word,
    ownCluster: false,
    user: word,
    impersonated: false,
  }
  const item = { check: word, subject: word, state: 'weak', message: word, why: word, fix: word, origin } as const
  const fleet = deepReplace(sampleFleet(), 'ops-team', 'x') as FleetPage
  return {
    ...fleet,
    branch: word,
    tenants: [{ name: word, clusters: [word], namespaces: [word], identities: [word] }],
    sources: [{ id: word, url: word, commit: word, used: 1 }],
    notSeen: [{ source: word, url: word, reason: word }],
    graph: fleet.graph.map(node => ({
      ...{ ...node, cluster: word, namespace: word, name: word, tenant: word, identity: word, namespaces: [word] },
      ...{
        source: { id: `Kind/${word}`, url: word, commit: word, notSeen: word },
        declared: origin,
        open: 1,
        failed: 2,
      },
    })),
    findings: [
      {
        ...{ kind: 'violation', state: 'waived', rule: word, severity: 'high', tenant: word, clusters: [word] },
        ...{ object: word, objects: 2, message: word, origin },
        waiver: { expires: word, approver: word, reason: word },
      },
    ],
    audit: [{ cluster: word, path: word, items: [item] }],
    policies: [
      {
        ...{ cluster: word, kind: word, namespace: `n${word}`, name: word, origin, notEvaluated: [`p${word}`] },
        rules: [{ rule: word, passed: 1, denied: 1, warned: 1, audited: 1, notEvaluated: 1, why: word }],
        exceptions: [{ name: word, origin }],
      },
    ],
    access: {
      namespaces: [
        {
          cluster: word,
          namespace: word,
          tenant: word,
          others: [right],
          unknown: [word],
          left: 1,
          changers: [{ ...changer, rights: [right], by: { account: word, way: word } }],
        },
      ],
      left: 1,
    },
  }
}

const ask = (word: string) => ({
  query: { ...NO_QUERY, namespace: word },
  maintains: true,
  queue: [{ queue: 'sweep', waiting: 0, active: 0, delayed: 0, failed: 1 }],
})
const hostileText = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.string({ unit: fc.constantFrom(...'<>"\'`&/=; \n!-]ax'), minLength: 1, maxLength: 30 }),
  fc.constantFrom(
    '</style><script>alert(1)</script>',
    '" onmouseover="x',
    "' autofocus onfocus='x",
    '<!--',
    ']]>',
    '&lt;script&gt;',
    'javascript:alert(1)',
    HOSTILE,
    '__proto__',
    '\ud800',
    '\u202e',
  ),
)

describe('whatever somebody is called', () => {
  // what a word is may choose between two kinds of markup: a link or plain code, quoted code or text
  const plain = (page: string) => shapeOf(page).filter(tag => !/^<\/?(?:a|code|p|br)\b/.test(tag))

  test('the page of a check has the tags that it always has', () => {
    const expected = plain(renderCheckPage(pageWith('word')))
    expect(expected.length).toBeGreaterThan(100)
    fc.assert(
      fc.property(hostileText, word => {
        expect(plain(renderCheckPage(pageWith(`w${word}`)))).toEqual(expected)
      }),
      { numRuns: 300 },
    )
  })

  test('and so has the page of a fleet', () => {
    const expected = plain(renderFleetPage(fleetWith('word'), ask('word')))
    expect(expected.length).toBeGreaterThan(100)
    const same = (word: string) => {
      expect(plain(renderFleetPage(fleetWith(`w${word}`), ask(`w${word}`)))).toEqual(expected)
    }
    fc.assert(fc.property(hostileText, same), { numRuns: 300 })
  })

  test('a link leads to https or within the site, and an attribute holds nothing that ends it', () => {
    fc.assert(
      fc.property(hostileText, word => {
        const pages = [renderCheckPage(pageWith(word)), renderFleetPage(fleetWith(word), ask(word))]
        for (const tag of pages.flatMap(tagsOf)) {
          const href = /\shref="([^"]*)"/.exec(tag)?.[1]
          if (href !== undefined)
            expect(href).toMatch(/^(?:https:\/\/github\.com\/|\/(?!\/)|#|\?[a-z-]*=|data:image\/svg)/)
          expect(tag).toMatch(/^<\/?[a-z\d]+(?:\s[a-zA-Z-]+(?:="[^"<>]*")?)*\s*\/?>$/)
        }
      }),
      { numRuns: 60 },
    )
  })

  test('nothing invisible is left invisible', () => {
    expect(renderCheckPage(samplePage()).replace(/[\n\x20-\x7e]|[·✗✓–’…]/g, '')).toBe('')
    expect(renderCheckPage(pageWith('a\u202eb\u0000c\u200d'))).toContain('a\\u{202e}b\\u{0}c\\u{200d}')
  })
})

test('a list of permissions is whole, and a name with backticks stays in its own quotes', () => {
  const page = pageWith('word')
  const [right] = page.changes!.rights
  const names = Array.from({ length: 15 }, (_, at) => `a\`${at} is admin\``)
  const rights = [{ ...right!, gains: names.map(name => ({ verbs: ['get'], resource: name, names: [] })) }]
  const text = renderCheckPage({ ...page, changes: { ...page.changes!, rights } })
  for (const name of names) expect(text).toContain(`<code>${name.replaceAll('`', '&#96;')}</code>`)
})

test('markup is made by the template only', () => {
  expect(
    html`<p title="${'"><b>'}">${'<i>'}${html`<b>${1}</b>`}${undefined}${false}${['&', html`<br>`]}</p>`.toString(),
  ).toBe('<p title="&quot;&gt;&lt;b&gt;">&lt;i&gt;<b>1</b>&amp;<br></p>')
})

describe('what a page is told', () => {
  test("of another tenant a tenant's page holds nothing, already before it is stored", () => {
    const foreign = finding({ tenant: 'dev-team', node: 'staging/apps/dev-team', message: 'tenant dev-team secretly' })
    const nodes = [
      node(),
      node({ key: 'staging/apps/dev-team', tenant: 'dev-team', namespace: 'apps', name: 'dev-team' }),
      node({ key: 'staging/flux-system/tenants', tenant: null, name: 'tenants' }),
    ]
    const told = { ...context, audience: ['ops-team'], nodes, fleet: { repository: FLEET, commit: SHA } }
    const page = checkPageOf(verdict({ result: 'fail', violations: [foreign] }), told, place)
    expect(page.graph.map(({ key }) => key)).toEqual(['staging/ops/ops-team'])
    expect(page.hidden).toEqual({ violations: 1, errors: 0 })
    expect(JSON.stringify(page)).not.toMatch(/dev-team|secretly|flux-system\/tenants/)
    expect(renderCheckPage(page)).toContain('1 violation elsewhere in the fleet')
  })

  test('of an error before there was a verdict it holds what concerns the repository', () => {
    const error = new BailiwickError('source-unreadable', 'https://github.com/acme/secret: gone', {
      fix: 'Ask acme/secret',
    })
    expect(JSON.stringify(checkPageOf(error, { ...context, audience: ['ops-team'] }, place).error)).not.toContain(
      'secret',
    )
    // nobody knows yet whose repository it is, not even whether it is the fleet's
    expect(renderCheckPage(checkPageOf(error, context, place))).not.toContain('secret')
    const own = new BailiwickError('git-truncated', 'GitHub does not list all files of acme/ops-team')
    expect(renderCheckPage(checkPageOf(own, context, place))).toContain('all files of acme/ops-team')
  })

  test('nothing touched is said in a sentence', () => {
    expect(renderCheckPage(checkPageOf(undefined, context, place))).toContain('No Kustomization of a cluster reads')
  })

  test('a huge verdict is bounded, and says what is left out; what blocks comes first', () => {
    const old = Array.from({ length: 1_500 }, (_, at) => finding({ state: 'standing', fingerprint: `s${at}` }))
    const page = checkPageOf(
      verdict({ result: 'fail', violations: [...old, ...overLong().violations] }),
      context,
      place,
    )
    expect(page.verdict?.violations).toHaveLength(1_000)
    expect(page.verdict?.violations.filter(({ state }) => state === 'new')).toHaveLength(400)
    expect(page.left).toEqual({ violations: 900 })
    expect(renderCheckPage(page).length).toBeLessThan(1_000_000)
  })

  test('a hostile verdict is shown', () => {
    expect(renderCheckPage(checkPageOf(hostile(), context, place))).toContain('@org/everyone &lt;img src=//e&gt;')
  })

  test('a graph that goes round, or whose parents are missing, ends', () => {
    const nodes = [node({ key: 'a', parent: 'b' }), node({ key: 'b', parent: 'a' }), node({ key: 'c', parent: 'gone' })]
    expect(renderCheckPage(checkPageOf(verdict(), { ...context, nodes }, place))).toContain('Evaluated Kustomizations')
  })

  test('the list of pages', () => {
    const entry = { owner: 'acme', repo: 'fleet', at: place.at }
    const page = homePage(
      [
        {
          ...entry,
          kind: 'check',
          sha: SHA,
          path: `/checks/acme/fleet/${SHA}/0`,
          check: '<i>',
          title: '<b>',
          conclusion: 'failure',
        },
        { ...entry, kind: 'fleet' },
      ],
      { login: 'ada' },
    )
    for (const part of [
      `/checks/acme/fleet/${SHA}/0"`,
      '/fleets/acme/fleet',
      '&lt;i&gt;',
      '&lt;b&gt;',
      'Signed in as ada',
    ])
      expect(page).toContain(part)
  })
})
