import { describe, expect, test } from 'vitest'
import { visible, withoutLogins } from '../../src/base/visible.ts'
import { checkRunOf } from '../../src/report/check-run.ts'
import { commentOf } from '../../src/report/comment.ts'
import { checkPageOf } from '../../src/report/page/build-pages.ts'
import { renderCheckPage } from '../../src/report/page/render-check-page.ts'
import { checkIdOf } from '../../src/surface/pages/page-address.ts'
import { PAGE_LIMITS, PageStore } from '../../src/surface/pages/page-store.ts'
import { MemoryTtlStore } from '../../src/surface/pages/ttl-store.ts'
import { CHECK_NAME } from '../../src/verdict/check-names.ts'
import { evaluationOf } from '../fleet/fleet-of.ts'
import { FLEET_URL, miniFleet, withResource } from '../fleet/mini-fleet.ts'

const WORD = 'hunter2hunter2'
const source = (kind: string, url: string) => `apiVersion: source.toolkit.fluxcd.io/v1
kind: ${kind}
metadata: {name: x, namespace: apps}
spec: {interval: 1h, url: "${url}"}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: y, namespace: apps}
spec: {interval: 1h, path: ./, prune: true, serviceAccountName: dev-team, sourceRef: {kind: ${kind}, name: x}}
`

describe('a password in the address of a source is told nowhere', () => {
  test.each([
    ['GitRepository', `https://u:${WORD}@git.example/a/b`],
    ['GitRepository', `https://u:${WORD}@git.example/a/b?x=1`],
    ['GitRepository', `https://${WORD}@git.example/a/b?x=1`],
    ['GitRepository', `https://git.example/a/b?access_token=${WORD}`],
    ['OCIRepository', `oci://u:${WORD}@git.example/a/b`],
  ])('%s %s', async (kind, url) => {
    const evaluation = evaluationOf(miniFleet({ dev: withResource(source(kind, url)) }), { base: miniFleet() })
    const { verdict, nodes } = evaluation
    const context = { kind: 'pull-request', repository: FLEET_URL, headSha: 'a'.repeat(40), nodes } as const
    const page = checkPageOf(verdict, context, {
      ...{ owner: 'acme', repo: 'fleet', check: CHECK_NAME, at: '2026-11-21T20:00:00.000Z' },
    })
    const store = new PageStore(new MemoryTtlStore(PAGE_LIMITS))
    await store.keep(page)
    const kept = JSON.stringify([
      await store.check('acme', 'fleet', context.headSha, checkIdOf(CHECK_NAME)),
      await store.list(),
    ])
    const told = [
      JSON.stringify(checkRunOf(verdict, context)),
      commentOf(verdict, context),
      renderCheckPage(page),
      kept,
    ]
    expect(told.join('\n')).toContain('git.example')
    expect(told.join('\n')).not.toContain(WORD)
  })
})

test('other addresses stay as they are', () => {
  for (const text of [
    'ssh://git@github.com/a/b',
    'https://a.example/c@d?x=1',
    'mail a@b.example',
    'https://a.example:8080/',
  ]) {
    expect(visible(text)).toBe(text)
  }
})

test('takes time in proportion to the text', () => {
  for (const text of [
    '://'.repeat(200_000),
    `://${'a'.repeat(500_000)}`,
    '://@'.repeat(100_000),
    '?token='.repeat(80_000),
  ]) {
    const start = performance.now()
    withoutLogins(`://${text}`)
    expect(performance.now() - start).toBeLessThan(1_000)
  }
})
