import { expect, test } from 'vitest'
import { evaluationOf, type Files, fleetOf } from '../fleet-of.ts'
import { configMap, syncText } from './sync-text.ts'

const base = {
  'clusters/gcp/README.md': '# Google\n',
  'clusters/gcp/prod/flux-system/gotk-components.yaml': configMap('flux'),
  'clusters/gcp/prod/a.yaml': configMap('a'),
}
const synced = (path: string, url?: string) => ({
  [`${path}/flux-system/gotk-sync.yaml`]: syncText({ path: `./${path}`, ...(url === undefined ? {} : { url }) }),
})

/** What a change of this fleet says, one line for each finding. */
const changed = (after: Files, before: Files = base) => {
  const { verdict } = evaluationOf({ fleet: after }, { base: { fleet: before } })
  return [
    verdict.result,
    ...verdict.warnings.map(({ rule }) => `warning ${rule}`),
    ...verdict.violations.map(({ rule }) => rule),
  ]
}

test('bootstrap of a cluster below a folder that was taken for one is no removal of it', () => {
  expect(fleetOf({ fleet: base }).clusters.map(({ name }) => name)).toEqual(['gcp'])
  const after = { ...base, ...synced('clusters/gcp/prod') }
  expect(fleetOf({ fleet: after }).clusters.map(({ name }) => name)).toEqual(['gcp-prod'])
  expect(changed(after)).toEqual(['pass', 'warning tenant-removed'])
})

test.each<[what: string, after: Files, before?: Files]>([
  [
    'applies only a part of it',
    { ...base, ...synced('clusters/gcp/prod'), 'clusters/gcp/more/b.yaml': configMap('b') },
    { ...base, 'clusters/gcp/more/b.yaml': configMap('b') },
  ],
  ['applies another repository', { ...base, ...synced('clusters/gcp/prod', 'https://github.com/evil/fleet') }],
  ['shares it with a second one', { ...base, ...synced('clusters/gcp/prod/a'), ...synced('clusters/gcp/prod/b') }],
])('one that %s takes the other away', (_what, after, before) => {
  const [result, ...rules] = changed(after, before)
  expect(result).not.toBe('pass')
  expect(rules).toContain('tenant-removed')
})

test('a cluster that said itself where it starts is missed, whatever starts below it', () => {
  const before = { ...base, ...synced('clusters/gcp') }
  const after = { ...base, ...synced('clusters/gcp/prod') }
  expect(changed(after, before)).toEqual(['fail', 'tenant-removed'])
})

const application = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: web
`

test('folders of a repository of Argo CD are no clusters of Flux, where nothing in it is of Flux', () => {
  const argo = { 'clusters/prod/a.yaml': configMap('a'), 'apps/web.yaml': application }
  expect(fleetOf({ fleet: argo }).clusters).toEqual([])
  const both = { ...argo, ...synced('clusters/staging') }
  expect(fleetOf({ fleet: both }).clusters.map(({ name }) => name)).toEqual(['prod', 'staging'])
})

test('an Application that a change adds does not take the cluster away', () => {
  expect(changed({ ...base, 'clusters/gcp/prod/web.yaml': application })).not.toContain('tenant-removed')
  const { clusters } = evaluationOf(
    { fleet: { ...base, 'apps/web.yaml': application } },
    { base: { fleet: base } },
  ).verdict
  expect(clusters.map(({ name }) => name)).toEqual(['gcp'])
})
