import { describe, expect, test } from 'vitest'
import { buildFleet } from '../../../src/fleet/graph/build-fleet.ts'
import { buildWithEarlier } from '../../../src/fleet/graph/fleet-session.ts'
import { retainOf } from '../../../src/fleet/model/input.ts'
import { evaluateFleet } from '../../../src/verdict/evaluate-fleet.ts'
import { scopeVerdict } from '../../../src/verdict/verdict-views.ts'
import { type Files, inputOf } from '../../fleet/fleet-of.ts'
import { DEV_URL, fleetFiles, miniFleet, OPS_URL } from '../../fleet/mini-fleet.ts'

const ROOT = 'clusters/staging/kustomization.yaml'
const BROKEN = 'resources: [\n'

/** What breaks a node of the platform, with a file of the fleet. */
const BREAKS: Readonly<Record<string, Files>> = {
  'a root of invalid YAML': { [ROOT]: BROKEN },
  'a base of the root': { 'clusters/staging/flux-system/kustomization.yaml': BROKEN },
  'a root that names what is not there': { [ROOT]: 'resources: [flux-system, tenants.yaml, gone.yaml]\n' },
  'what defines the tenants': { 'tenants/kustomization.yaml': BROKEN },
}

interface Change {
  readonly fleet: Files
  readonly dev?: Files
  readonly changed?: string
  /** Nothing is known of earlier commits. */
  readonly isNew?: boolean
}

/** A pull request of dev-team where the fleet stands broken. */
function evaluated({ fleet, dev = {}, changed = DEV_URL, isNew = false }: Change) {
  const broken = (own: Files) => inputOf(miniFleet({ fleet, dev: own }))
  const states = isNew ? [] : [{ commit: 'e'.repeat(40), tree: inputOf(miniFleet()).fleet.tree }]
  const base = buildWithEarlier(buildFleet, broken({}), { states, isAll: true })
  const head = buildFleet({ ...broken(dev), config: base.input.fleet.tree, retain: retainOf(base.fleet) })
  return evaluateFleet(head, { base: base.fleet, revisionSet: 'c', changed })
}

const object = (namespace: string) => ({
  'deploy/web.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: ${namespace}}\n`,
})

describe.for(Object.entries(BREAKS))('below %s', ([, fleet]) => {
  test("a tenant's own change passes, with the error as existing", () => {
    const { verdict } = evaluated({ fleet, dev: object('apps') })
    expect(verdict.result).toBe('pass')
    expect(verdict.errors.map(({ state }) => state)).not.toContain('new')
    expect(verdict.summary).toContain('Flux applies nothing of staging/flux-system/')
  })

  test('one that reaches beyond its namespace fails as everywhere', () => {
    expect(evaluated({ fleet, dev: object('ops') }).verdict.result).toBe('fail')
  })

  test("the tenant's part says that nothing new of it is applied, and has no error of the fleet", () => {
    for (const keepNew of [true, false]) {
      const verdict = scopeVerdict(evaluated({ fleet, dev: object('apps') }), DEV_URL, { keepNew })
      expect(verdict).toMatchObject({ result: 'pass', errors: [], belowErrors: 1 })
      expect(verdict.summary).toContain(
        '1 Kustomization is below an error of the fleet: until it is fixed, Flux keeps what it last applied there, and workers apply nothing.',
      )
    }
  })

  test('a repository that is named in it only now may be led to', () => {
    const other = 'https://github.com/acme/other'
    const more = { 'clusters/staging/more.yaml': source(other), 'tenants/more.yaml': source(other) }
    const isRead = Object.values(fleet).includes(BROKEN)
    const { verdict } = evaluated({ fleet: { ...fleet, ...more }, changed: other })
    expect(verdict.result).toBe(isRead ? 'error' : 'pass')
  })
})

const source = (url: string) =>
  `apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: more, namespace: apps}\nspec: {interval: 1m, url: "${url}"}\n`

test('of a fleet that never built any repository may be led to', () => {
  const all = { ...BREAKS['a root of invalid YAML']!, 'tenants/more.yaml': source(OPS_URL) }
  expect(evaluated({ fleet: all, isNew: true }).verdict.result).toBe('error')
})

test('a healthy fleet says nothing of that', () => {
  const verdict = scopeVerdict(evaluated({ fleet: fleetFiles, dev: object('apps') }), DEV_URL, { keepNew: true })
  expect(verdict.belowErrors).toBeUndefined()
  expect(verdict.summary).not.toContain('below an error')
})

test.for([
  [
    'a folder that Flux still applies, because the root that names another one does not build',
    'shared/more.yaml',
    true,
  ],
  ['the folder that it names now', 'moved/more.yaml', false],
] as const)('%s', ([, path, isAsked]) => {
  const START = 'clusters/staging/tenants.yaml'
  const shared = `${fleetFiles[START]}---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shared, namespace: flux-system}
spec: {interval: 5m, prune: true, path: ./shared, serviceAccountName: kustomize-controller, sourceRef: {kind: GitRepository, name: flux-system}}
`
  const config = (name: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: flux-system}\n`
  const built = { [START]: shared, 'shared/a.yaml': config('a'), 'moved/a.yaml': config('a') }
  const moved = {
    ...built,
    ...BREAKS['a root that names what is not there'],
    [START]: shared.replace('./shared', './moved'),
  }
  const states = [{ commit: 'e'.repeat(40), tree: inputOf(miniFleet({ fleet: built })).fleet.tree }]
  const base = buildWithEarlier(buildFleet, inputOf(miniFleet({ fleet: moved })), { states, isAll: true })
  const input = inputOf(miniFleet({ fleet: { ...moved, [path]: config('more') } }))
  const head = buildFleet({ ...input, config: base.input.fleet.tree, retain: retainOf(base.fleet) })
  const { verdict } = evaluateFleet(head, { base: base.fleet, revisionSet: 'c' })
  expect(verdict.changedFiles?.map(one => [one.path, one.state])).toEqual([[path, isAsked ? 'unseen' : 'rendered']])
  expect(verdict.requiredApprovals.map(one => one.path)).toEqual(isAsked ? [path] : [])
})

const OLD_URL = 'https://github.com/acme/old'
const FOUND = 'tenants/dev-team.yaml'
const LIST = { 'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, gone.yaml]\n' }
const sourceOf = (url: string, branch = 'main') =>
  fleetFiles[FOUND]!.replace(`url: ${DEV_URL}`, `url: ${url}`).replace('branch: main', `branch: ${branch}`)

describe('a source that the cluster still reads, because the overlay that moves it does not build', () => {
  function evaluatedWith(was: string, { changed, dev = {} }: { changed: string; dev?: Files }) {
    const built = miniFleet({ fleet: { [FOUND]: was } })
    const states = [{ commit: 'e'.repeat(40), tree: inputOf(built).fleet.tree }]
    const base = buildWithEarlier(buildFleet, inputOf(miniFleet({ fleet: LIST })), { states, isAll: true })
    const input = inputOf(miniFleet({ fleet: LIST, dev }))
    const head = buildFleet({ ...input, config: base.input.fleet.tree, retain: retainOf(base.fleet) })
    return evaluateFleet(head, { base: base.fleet, revisionSet: 'c', changed }).verdict
  }

  test('the repository that it read before is not free to change', () => {
    expect(evaluatedWith(sourceOf(OLD_URL), { changed: OLD_URL }).result).toBe('error')
  })

  test('another repository is', () => {
    expect(evaluatedWith(sourceOf(OLD_URL), { changed: 'https://github.com/acme/unrelated' }).result).toBe('pass')
    expect(evaluatedWith(sourceOf(DEV_URL), { changed: OLD_URL }).result).toBe('pass')
  })

  test('a change of the branch that it reads now leaves what it read before open', () => {
    expect(evaluatedWith(sourceOf(DEV_URL, 'release'), { changed: DEV_URL }).result).toBe('error')
  })
})

describe('what else the cluster keeps where the root does not build', () => {
  const EXTRA = 'clusters/staging/extra.yaml'
  const [WHOLE, HOLED] = [
    ['flux-system', 'tenants.yaml', 'extra.yaml'],
    ['gone.yaml', 'flux-system', 'tenants.yaml'],
  ].map(names => ({ [ROOT]: `resources: [${names.join(', ')}]\n` }))
  const set = (path: string) => `apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSet
metadata: {name: apps, namespace: flux-system}
spec:
  resources:
    - apiVersion: kustomize.toolkit.fluxcd.io/v1
      kind: Kustomization
      metadata: {name: made, namespace: flux-system}
      spec: {interval: 5m, prune: true, path: ${path}, serviceAccountName: kustomize-controller, sourceRef: {kind: GitRepository, name: flux-system}}
`
  const release = (chart: string) => `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: flux-system}
spec:
  interval: 5m
  serviceAccountName: helm-controller
  chart: {spec: {chart: ./charts/${chart}, sourceRef: {kind: GitRepository, name: flux-system}}}
`
  const config = (name: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: flux-system}\n`
  const chart = 'apiVersion: v2\nname: web\nversion: 1.0.0\n'
  const FILES = {
    'shared/a.yaml': config('a'),
    'moved/a.yaml': config('b'),
    'charts/a/Chart.yaml': chart,
    'charts/b/Chart.yaml': chart,
  }

  const REPLACED = { [ROOT]: 'resources: [flux-system, tenants.yaml, extra.yaml, gone.yaml]\n' }

  function evaluatedWith(was: string, now: Files, change: Files) {
    const filesOf = (more: Files) => inputOf(miniFleet({ fleet: { ...FILES, ...more } }))
    const states = [{ commit: 'e'.repeat(40), tree: filesOf({ ...WHOLE, [EXTRA]: was }).fleet.tree }]
    const base = buildWithEarlier(buildFleet, filesOf(now), { states, isAll: true })
    const input = { ...filesOf({ ...now, ...change }), config: base.input.fleet.tree }
    const head = buildFleet({ ...input, retain: retainOf(base.fleet) })
    const { verdict } = evaluateFleet(head, { base: base.fleet, revisionSet: 'c' })
    return { result: verdict.result, asked: verdict.requiredApprovals.map(({ path }) => path) }
  }

  const SECRET = `apiVersion: v1
kind: Secret
metadata: {name: c, namespace: flux-system}
stringData: {password: correct-horse-battery}
`
  const [SHARED, CHART] = ['shared/b.yaml', 'charts/a/templates/a.yaml']
  test.for([
    ['a ResourceSet that is taken out', set('./shared'), HOLED!, SHARED, 'fail', []],
    [
      'one that names another folder',
      set('./shared'),
      { ...REPLACED, [EXTRA]: set('./moved') },
      SHARED,
      'pass',
      [SHARED],
    ],
    ['a HelmRelease of another chart', release('a'), { ...REPLACED, [EXTRA]: release('b') }, CHART, 'pass', [CHART]],
  ] as const)('%s', ([, was, now, path, result, asked]) => {
    expect(evaluatedWith(was, now, { [path]: SECRET })).toEqual({ result, asked })
    expect(evaluatedWith(was, now, { 'docs/readme.md': 'text\n' })).toEqual({ result: 'pass', asked: [] })
  })
})
