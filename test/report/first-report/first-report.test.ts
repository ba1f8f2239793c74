import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { firstReport } from '../../../src/report/first-report.ts'
import type { FirstReportFacts } from '../../../src/report/first-report-sections.ts'
import { gateAnswer } from '../../../src/surface/command/answer-text.ts'
import type { FleetSurvey } from '../../../src/verdict/audit/survey-fleet.ts'
import { wantedRuleset } from '../../../src/verdict/branch-ruleset.ts'
import { evaluateProtection } from '../../../src/verdict/evaluate-protection.ts'
import { failure, finding } from '../samples.ts'

const FLEET = 'https://github.com/acme/fleet'
const EVIL = '](https://evil.example) @acme/everyone #1 <img src=//e> `x` | fixes #2\n- [x] done <!--'
const CHECK = { name: 'bailiwick / tenancy', app: 7 }
const golden = (name: string) => join(import.meta.dirname, `../goldens/first-report/${name}.md`)

const gateOf = (branch: string, url = FLEET, namesake = 'ci') => ({
  ...{ url, branch },
  gate: evaluateProtection({ url, branch, layers: [], hidden: false, evaluated: [EVIL], namesakes: [namesake] }, CHECK),
})

function factsOf(survey: Partial<FleetSurvey>, more: Partial<FirstReportFacts> = {}): FirstReportFacts {
  return {
    url: FLEET,
    survey: {
      ...{ clusters: [], tenants: [], seen: [], notSeen: [], audit: [], legacy: [], worst: [], errors: [] },
      summary: '3 violations: tenant dev-team on staging; in 3 Kustomizations (12 objects, 1 cluster, 1 tenant)',
      evaluated: {
        clusters: 1,
        tenants: 1,
        kustomizations: { reached: 3, present: 3 },
        objects: 12,
        releases: 0,
        holes: 0,
      },
      ...{ errorCount: 0, gated: [], enforcement: 'block', ...survey },
    },
    gates: [],
    baseline: { kind: 'not-needed' },
    hasForm: false,
    ...more,
  }
}

const hostile = factsOf(
  {
    clusters: [{ name: EVIL, path: EVIL, how: 'layout' }],
    tenants: [{ name: EVIL, clusters: [EVIL], namespaces: [EVIL], identities: [EVIL] }],
    seen: [{ url: `https://github.com/${EVIL}`, ref: `branch ${EVIL}` }],
    notSeen: [{ source: EVIL, url: '', reason: EVIL }],
    audit: [
      {
        cluster: EVIL,
        path: EVIL,
        items: [{ check: 'x', subject: EVIL, state: 'weak', message: EVIL, why: EVIL, fix: EVIL }],
      },
    ],
    legacy: [{ rule: EVIL, count: 1 }],
    worst: [finding({ message: EVIL, tenant: EVIL, cluster: EVIL })],
    errors: [failure({ message: EVIL, node: EVIL })],
    errorCount: 30,
  },
  { gates: [gateOf(EVIL)], baseline: { kind: 'offered', pull: 3 } },
)

describe('names that want to be more', () => {
  test('stay names: no mention, link, image, HTML, reference or box of theirs', async () => {
    const body = firstReport(hostile)
    await expect(body).toMatchFileSnapshot(golden('hostile-names'))
    const outside = body
      .replaceAll(/(`+)[^`][\s\S]*?\1/g, '')
      .replaceAll(/<code>[^<]*<\/code>|<\/?(?:details|summary)>/g, '')
    expect(outside).not.toMatch(/@acme|evil\.example|<img|#1\b|#2\b|<!--/)
    expect(body.split('\n').filter(line => line.startsWith('- ['))).toHaveLength(5)
  })

  test('in the answer to who asks for the gate, too', () => {
    const branch = 'a```b<img>@acme/everyone'
    const ruleset = wantedRuleset([branch], CHECK)
    const answer = gateAnswer([{ url: FLEET, branches: [branch], outcome: 'refused', ...(ruleset ? { ruleset } : {}) }])
    expect(answer).toContain('\n````json\n')
    expect(JSON.parse(/````json\n([\s\S]*?)\n````/.exec(answer ?? '')?.[1] ?? '')).toEqual(ruleset)
    expect(wantedRuleset(['release/*'], CHECK)).toBeUndefined()
  })
})

describe('a large fleet', () => {
  const many = <T>(number: number, make: (index: number) => T) =>
    Array.from({ length: number }, (_, index) => make(index))
  const large = factsOf(
    {
      clusters: many(200, index => ({
        name: `cluster-${index}`,
        path: `clusters/cluster-${index}`,
        how: 'layout' as const,
      })),
      tenants: many(2000, index => ({
        name: `tenant-${index}`,
        clusters: many(200, of => `cluster-${of}`),
        namespaces: many(40, of => `tenant-${index}-${of}`),
        identities: [`system:serviceaccount:tenant-${index}:reconciler`],
      })),
      seen: many(2000, index => ({ url: `https://github.com/acme/tenant-${index}`, ref: 'branch main' })),
      audit: many(200, index => ({
        ...{ cluster: `cluster-${index}`, path: '' },
        items: many(50, of => ({
          check: `check-${of}`,
          subject: '',
          state: 'weak' as const,
          message: `${index % 30} `.repeat(60),
          why: '',
          fix: 'Mend it.',
        })),
      })),
      legacy: many(150, index => ({ rule: `rule-${index}`, count: 1000 - index })),
      worst: many(10, () => finding({ message: 'long '.repeat(300) })),
    },
    { gates: many(2001, index => gateOf('main', `https://github.com/acme/tenant-${index}`, `ci-${index % 50}`)) },
  )

  test('fits into an issue; what is left out is counted, the next steps are not', () => {
    const body = firstReport(large)
    expect(body.length).toBeLessThan(60_000)
    expect(body).toContain('### What to do next')
    expect(body).toContain('… and 1941 more.')
    expect(body).toContain('… and 30 more gaps.')
    expect(body).toContain('**Left out for length:**')
  })

  test('the same facts give the same text', () => expect(firstReport(large)).toBe(firstReport(large)))
})
