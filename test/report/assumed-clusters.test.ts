import { describe, expect, test } from 'vitest'
import { checkRunOf } from '../../src/report/check-run.ts'
import { commentOf } from '../../src/report/comment.ts'
import { githubText } from '../../src/report/formats/formats.ts'
import { terminalText } from '../../src/report/formats/terminal.ts'
import type { ReportContext } from '../../src/report/outcome.ts'
import { checkPageOf, fleetPageOf } from '../../src/report/page/build-pages.ts'
import { renderCheckPage } from '../../src/report/page/render-check-page.ts'
import { renderFleetPage } from '../../src/report/page/render-fleet-page.ts'
import type { Verdict, VerdictCluster } from '../../src/rules/model/finding.ts'
import { CHECK_NAME } from '../../src/verdict/check-names.ts'
import { atOnce } from '../repository/runner/at-once.ts'
import { FLEET, finding, HOSTILE, OPS, verdict } from './samples.ts'

const place = { owner: 'acme', repo: 'fleet', check: CHECK_NAME, at: '2026-11-21T20:00:00.000Z' }
const own: ReportContext = { kind: 'pull-request', repository: FLEET, headSha: 'a'.repeat(40) }
const tenants: ReportContext = {
  ...own,
  repository: OPS,
  audience: ['ops-team'],
  fleet: { repository: FLEET, commit: 'b'.repeat(40) },
}

const found = (how: VerdictCluster['how'], names = ['staging']): Verdict =>
  verdict({
    result: 'fail',
    violations: [finding()],
    clusters: names.map(name => ({ name, path: `kubernetes/${name}`, how })),
  })

const fleetPage = (given: Verdict) => {
  const evaluation = { verdict: given, nodes: [] }
  const fleet = { repository: FLEET, branch: 'main', commit: 'a'.repeat(40), evaluation, audit: [] }
  const page = atOnce(fleetPageOf({ ...fleet, access: { namespaces: [], left: 0 } as never }, place))
  return renderFleetPage(page, { queue: [] })
}

const SURFACES: Readonly<Record<string, (given: Verdict, context?: ReportContext) => string>> = {
  terminal: given => terminalText(given, FLEET),
  'workflow commands': given => githubText(given, { here: FLEET, rules: [], version: '1' }),
  'check run': (given, context = own) => checkRunOf(given, context).summary,
  comment: (given, context = own) => commentOf(given, context)!,
  'check page': (given, context = own) => renderCheckPage(checkPageOf(given, context, place)),
  'fleet page': given => fleetPage(given),
}

/** Without the code spans of Markdown. */
const plain = (text: string) => text.replaceAll('`', '')

describe.each(Object.entries(SURFACES))('%s', (_name, text) => {
  test('names a cluster that is only assumed, and how to declare it', () => {
    expect(plain(text(found('assumed')))).toContain(
      'Cluster staging is assumed: nothing in git says that Flux starts at kubernetes/staging. Declare it under clusters in .github/bailiwick.yaml.',
    )
  })

  test.each(['sync', 'flux-instance', 'declared', 'layout'] as const)('says nothing of one known by %s', how => {
    expect(text(found(how))).not.toContain('assumed')
  })

  test('names several in one line', () => {
    const names = Array.from({ length: 7 }, (_one, index) => `c${index}`)
    const lines = plain(text(found('assumed', names)))
      .split('\n')
      .filter(line => line.includes('assumed:') || line.includes('are assumed'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('c4 (kubernetes/c4) and 2 more are assumed')
  })
})

test.each(['check run', 'comment', 'check page'])("%s of a tenant's repository tells no folder of the fleet", name => {
  const text = plain(SURFACES[name]!(found('assumed'), tenants))
  expect(text).toContain('Cluster staging is assumed')
  expect(text).toContain('under clusters in .github/bailiwick.yaml of the fleet.')
  expect(text).not.toContain('kubernetes/staging')
})

test('a hostile name is only text', () => {
  const clusters = [{ name: HOSTILE, path: HOSTILE, how: 'assumed' }] as const
  const given = verdict({ clusters, result: 'fail', violations: [finding()] })
  expect(checkRunOf(given, own).summary).not.toMatch(/^## approved/m)
  expect(commentOf(given, own)).not.toMatch(/^## approved|(?<!`)@org\/everyone(?!.*`)/m)
  expect(terminalText(given, FLEET)).not.toContain('\u202e')
})
