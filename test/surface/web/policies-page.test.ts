import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fleetPageOf } from '../../../src/report/page/build-pages.ts'
import { renderFleetPage } from '../../../src/report/page/render-fleet-page.ts'
import { policyCoverage } from '../../../src/rules/policies/policy-coverage.ts'
import { evaluationOf, fleetOf } from '../../fleet/fleet-of.ts'
import { FLEET_URL, miniFleet, withResource } from '../../fleet/mini-fleet.ts'
import { atOnce } from '../../repository/runner/at-once.ts'
import { noChromium, openChromium } from './chromium.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const POLICIES = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: names}
spec:
  validationFailureAction: Enforce
  rules:
    - name: no-old
      match: {any: [{resources: {kinds: [ConfigMap]}}]}
      validate: {message: old names are refused, pattern: {metadata: {name: "!old-*"}}}
    - name: spread
      match: {any: [{resources: {kinds: [Namespace]}}]}
      mutate: {patchStrategicMerge: {metadata: {labels: {a: b}}}}
---
apiVersion: kyverno.io/v2
kind: PolicyException
metadata: {name: granted, namespace: flux-system}
spec:
  exceptions: [{policyName: names, ruleNames: [no-old]}]
  match: {any: [{resources: {kinds: [ConfigMap], names: [old-granted]}}]}
---
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: unused-policy-with-a-name-that-is-as-long-as-names-of-policies-are-in-large-organizations}
spec:
  rules:
    - name: nothing
      match: {any: [{resources: {kinds: [CronJob]}}]}
      validate: {message: no, pattern: {spec: {suspend: false}}}
---
apiVersion: admissionregistration.k8s.io/v1beta1
kind: MutatingAdmissionPolicy
metadata: {name: defaults}
spec: {}
`
const map = (name: string) => `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: apps}\n`

function pageOf(policies = POLICIES, copies = 1) {
  const given = miniFleet({
    fleet: {
      'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, policies.yaml]\n',
      'tenants/policies.yaml': policies,
    },
    dev: withResource(map('old-one') + map('old-granted') + map('good')),
  })
  const covered = policyCoverage(fleetOf(given), ['staging'])
  const all = Array.from({ length: copies }, () => covered).flat()
  const fleet = {
    ...{ repository: FLEET_URL, branch: 'main', commit: 'f'.repeat(40) },
    ...{ evaluation: evaluationOf(given), audit: [], policies: all, access: { namespaces: [], left: 0 } },
  }
  const page = atOnce(fleetPageOf(fleet, { owner: 'acme', repo: 'fleet', at: '2026-11-23T00:00:00.000Z' }))
  return { page, html: renderFleetPage(page, { queue: [] }), covered }
}

const textOf = (html: string) =>
  html
    .slice(html.indexOf('id="policies"'), html.indexOf('id="tenants"'))
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')

test('each policy with what it says, what is not evaluated and who is excepted', () => {
  const { html, covered } = pageOf()
  expect(html).toContain('<a href="#policies">Policies (3)</a>')
  const text = textOf(html)
  expect(text).toContain('no-old 1 denied 2 passed mutate')
  expect(text).toContain('Exceptions: flux-system/granted ( tenants/policies.yaml:14 )')
  expect(text).toContain('It selects no object of the fleet.')
  expect(text).toContain('the whole policy')
  expect(covered.find(({ name }) => name === 'names')?.rules).toMatchObject([
    { rule: 'no-old', passed: 2, denied: 1, notEvaluated: 0 },
  ])
})

test('a fleet without policies says so', () => {
  expect(textOf(pageOf('# none\n').html)).toContain('The platform renders no admission policy.')
})

test('the page is bounded, and counts what it leaves out', () => {
  const { page, html } = pageOf(POLICIES, 1_000)
  expect(page.policies).toHaveLength(1_000)
  expect(page.left.policies).toBe(2_000)
  expect(html).toContain('2,000 more are not stored for this page.')
  expect(html).toContain('Part 1 of 42')
  expect(html.length).toBeLessThan(200_000)
})

const missing = noChromium()
describe.skipIf(missing !== undefined)('in a real Chromium', { timeout: 90_000 }, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openChromium()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
  })

  test('axe-core finds nothing in both themes, and 360 px are wide enough', async () => {
    const page = await browser.newPage({ viewport: { width: 360, height: 740 }, bypassCSP: true })
    await page.setContent(pageOf().html)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    await page.evaluate(AXE)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const found = await page.evaluate<readonly string[]>(
        "axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))",
      )
      expect(found, colorScheme).toEqual([])
    }
    await page.close()
  })
})
