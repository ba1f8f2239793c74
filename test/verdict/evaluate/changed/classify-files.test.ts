import { describe, expect, test } from 'vitest'
import type { Verdict } from '../../../../src/rules/model/finding.ts'
import { EvaluateSession } from '../../../../src/verdict/evaluate-sides.ts'
import { mergeVerdicts } from '../../../../src/verdict/verdict-views.ts'
import { configMap } from '../../../fleet/clusters/sync-text.ts'
import { evaluationOf, type Files, inputOf } from '../../../fleet/fleet-of.ts'
import { DEV_URL, FLEET_URL, fleetFiles, miniFleet } from '../../../fleet/mini-fleet.ts'

const UNSEEN = `
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: infra-configs, namespace: flux-system}
spec: {interval: 5m, prune: true, path: ./infra, serviceAccountName: kustomize-controller, sourceRef: {kind: GitRepository, name: by-hand}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: elsewhere, namespace: flux-system}
spec: {interval: 5m, prune: true, path: ./not-in-this-repository, serviceAccountName: kustomize-controller, sourceRef: {kind: GitRepository, name: by-hand}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: flux-system}
spec: {interval: 1h, serviceAccountName: kustomize-controller, chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: flux-system}}}}
`
const START = 'clusters/staging/tenants.yaml'
const BASE: Files = { [START]: `${fleetFiles[START]}${UNSEEN}`, 'old/a.sh': 'a', 'infra/old.yaml': configMap('old') }
const CHANGE: Files = {
  ...BASE,
  'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, more.yaml]',
  'tenants/more.yaml': configMap('more'),
  'infra/a.yaml': configMap('a'),
  'charts/web/values.yaml': 'a: b',
  'README.md': 'a',
}
const without = (files: Files, ...names: string[]) =>
  Object.fromEntries(Object.entries(files).filter(([name]) => !names.includes(name)))
const HEAD = without(CHANGE, 'old/a.sh', 'infra/old.yaml')

const states = ({ changedFiles = [] }: Verdict) => changedFiles.map(one => [one.path, one.state, ...one.by])
const STATES = [
  ['README.md', 'unread'],
  ['charts/web/values.yaml', 'unseen', 'the chart of HelmRelease `web` is not rendered'],
  ['infra/a.yaml', 'unseen', 'Kustomization `infra-configs` is not visible'],
  ['infra/old.yaml', 'unseen', 'Kustomization `infra-configs` is not visible'],
  ['old/a.sh', 'unread'],
  ['tenants/kustomization.yaml', 'rendered', 'staging/flux-system/tenants'],
  ['tenants/more.yaml', 'rendered', 'staging/flux-system/tenants'],
]

describe('the changed files of a fleet', () => {
  test('are each rendered, read by nothing, or not checked', () => {
    const { verdict } = evaluationOf(miniFleet({ fleet: HEAD }), { base: miniFleet({ fleet: BASE }) })
    expect(states(verdict)).toEqual(STATES)
    expect(verdict.requiredApprovals.map(({ path }) => path)).toEqual(['infra/a.yaml', 'infra/old.yaml'])
    expect(verdict.summary).toContain('3 changed files were not checked: ')
  })

  test('are the same where it is remembered what was read, in either order', () => {
    const session = new EvaluateSession()
    const inputs = [BASE, HEAD, BASE].map(fleet => inputOf(miniFleet({ fleet })))
    const [base, head, again] = inputs.map(input => session.build(input))
    for (const one of [base!, again!]) {
      expect(states(session.evaluateFleet(head!, { base: one, revisionSet: '' }).verdict)).toEqual(STATES)
    }
  })

  test('are none without a base, and none of another repository', () => {
    expect(evaluationOf(miniFleet({ fleet: HEAD })).verdict.changedFiles).toBeUndefined()
    const options = { base: miniFleet({ fleet: BASE }), changed: DEV_URL }
    expect(evaluationOf(miniFleet({ fleet: HEAD }), options).verdict.changedFiles).toEqual([])
  })
})

test('a working copy that is evaluated as the next tag too is one change', () => {
  const tag = `---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: released, namespace: flux-system}
spec: {interval: 5m, url: "${FLEET_URL}", ref: {tag: v1.0.0}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: released, namespace: flux-system}
spec: {interval: 5m, prune: true, path: ./released, serviceAccountName: kustomize-controller, sourceRef: {kind: GitRepository, name: released}}
`
  const base = { [START]: `${fleetFiles[START]}${tag}`, 'released/a.yaml': configMap('a') }
  const fleetAt = (files: Files) => {
    const { fleet, sources = [], ...rest } = miniFleet({ fleet: files })
    return { ...rest, fleet, sources: [...sources, { url: FLEET_URL, ref: { tag: 'v1.0.0' }, files: fleet }] }
  }
  const head = { ...base, 'released/a.yaml': configMap('b'), 'README.md': 'a' }
  expect(states(evaluationOf(fleetAt(head), { base: fleetAt(base) }).verdict)).toEqual([
    ['README.md', 'unread'],
    ['released/a.yaml', 'rendered', 'staging/flux-system/released'],
  ])
})

test('a file of a tenant is not checked where an artifact of that tenant may hold it, and not where one of the platform may', () => {
  const artifact = (namespace: string) => `---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: web, namespace: ${namespace}}
spec: {interval: 5m, url: "oci://registry.example.com/web"}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: web, namespace: ${namespace}}
spec: {interval: 5m, prune: true, path: ./, serviceAccountName: dev-team, sourceRef: {kind: OCIRepository, name: web}}
`
  const planted = { 'other/a.yaml': configMap('a'), 'other/README.md': 'a' }
  const check = (fleet: Files, dev: Files) => {
    const options = { base: miniFleet({ fleet, dev }), changed: DEV_URL }
    const { verdict } = evaluationOf(miniFleet({ fleet, dev: { ...dev, ...planted } }), options)
    return [states(verdict), verdict.requiredApprovals.map(({ path }) => path)]
  }
  const own = { 'deploy/kustomization.yaml': 'resources: [web.yaml, art.yaml]', 'deploy/art.yaml': artifact('apps') }
  const why = 'Kustomization `web` is not visible'
  expect(check({}, own)).toEqual([
    [
      ['other/README.md', 'unread'],
      ['other/a.yaml', 'unseen', why],
    ],
    ['other/a.yaml'],
  ])
  const platforms = { [START]: `${fleetFiles[START]}${artifact('flux-system')}` }
  expect(check(platforms, {})[1]).toEqual([])
})

test('of several fleets the one counts that saw least of a file', () => {
  const { verdict } = evaluationOf(miniFleet({ fleet: HEAD }), { base: miniFleet({ fleet: BASE }) })
  const other: Verdict = {
    ...verdict,
    changedFiles: [
      { path: 'README.md', state: 'rendered', by: ['x/y/z'], readers: 1 },
      { path: 'infra/a.yaml', state: 'rendered', by: ['x/y/z'], readers: 1 },
    ],
  }
  expect(states(mergeVerdicts([other, verdict])).slice(0, 2)).toEqual([['README.md', 'rendered', 'x/y/z'], STATES[2]])
})
