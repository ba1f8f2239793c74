import { describe, expect, test } from 'vitest'
import { checkRunOf } from '../../../src/report/check-run.ts'
import { commentOf } from '../../../src/report/comment.ts'
import { verdictJson } from '../../../src/report/formats/formats.ts'
import { terminalText } from '../../../src/report/formats/terminal.ts'
import type { Finding } from '../../../src/rules/model/finding.ts'
import { summaryOf } from '../../../src/verdict/headline.ts'
import { countFindings, groupFindings } from '../../../src/verdict/summary.ts'
import { treesOf } from '../../attacks/attack-case.ts'
import { buildTrees, evaluateBuilt } from '../../attacks/evaluate-trees.ts'
import { isNew } from '../../attacks/expectation.ts'
import { FLEET, finding, verdict } from '../../report/samples.ts'
import { type Edit, edited, readRecipes } from '../../rules/recipes/read-recipes.ts'

const SYNC = { repository: FLEET, file: 'tenants/base/dev-team/sync.yaml', line: 20, column: 20 }
const object = (name: string, kind = 'Deployment', namespace = 'flux-system') => ({
  apiVersion: kind === 'Namespace' ? 'v1' : 'apps/v1',
  kind,
  namespace,
  name,
})
const moved = (name: string, over: Partial<Finding> = {}) =>
  finding({
    ...{ object: object(name), origin: SYNC, fingerprint: `f-${name}-${over.cluster ?? ''}`, cause: 'c1' },
    message: `Deployment flux-system/${name} is in namespace "flux-system"`,
    ...over,
  })
const target = (over: Partial<Finding> = {}) =>
  moved('dev-team', {
    rule: 'target-namespace',
    field: '/spec/targetNamespace',
    severity: 'high',
    cause: 'c0',
    ...over,
  })
/** One line that moves eleven objects of two clusters. */
const eleven = [
  ...['a', 'b', 'c', 'd', 'e'].flatMap(name => [moved(name), moved(name, { cluster: 'production' })]),
  moved('f', { cluster: 'production' }),
]
const rulesOf = (findings: readonly Finding[]) =>
  groupFindings(findings).map(({ finding: one, followers }) => [one.rule, followers.map(({ finding: f }) => f.rule)])

describe('one finding for each cause', () => {
  test('a line that reaches many objects on several clusters', () => {
    const [group, ...others] = groupFindings(eleven)
    expect(others).toEqual([])
    expect(group!.clusters).toEqual(['production', 'staging'])
    expect(group!.objects.map(one => [one.object.name, one.clusters])).toEqual([
      ...['a', 'b', 'c', 'd', 'e'].map(name => [name, ['production', 'staging']]),
      ['f', ['production']],
    ])
  })

  test.each<[string, Partial<Finding>]>([
    ['another line', { origin: { ...SYNC, line: 21 } }],
    ['another file', { origin: { ...SYNC, file: 'other.yaml' } }],
    ['another repository', { origin: { ...SYNC, repository: 'https://github.com/acme/other' } }],
    ['another value, where a line has several', { cause: 'c2' }],
    ['another rule about another field', { rule: 'sa-required', field: '/spec/serviceAccountName' }],
    ['another state', { state: 'standing' }],
    ['only reported', { reported: true, level: 'warning' }],
  ])('%s is another finding', (_, over) => {
    expect(countFindings([moved('a'), moved('b', over)])).toBe(2)
  })

  test('without a cause in it, as older verdicts are, by line and name of the field', () => {
    const old = (name: string, over: Partial<Finding> = {}) => {
      const { cause: _, ...rest } = moved(name, over)
      return rest
    }
    expect(countFindings([old('a'), old('b')])).toBe(1)
    expect(countFindings([old('a'), old('b', { field: '/metadata/name' })])).toBe(2)
  })

  test('without a line by object and words', () => {
    const nowhere = { origin: { ...SYNC, file: '' } }
    expect(countFindings([moved('a', nowhere), moved('a', { ...nowhere, cluster: 'production' })])).toBe(1)
    expect(countFindings([moved('a', nowhere), moved('b', nowhere)])).toBe(2)
  })
})

describe('what follows from another finding is below it', () => {
  test('what a rule says that it follows from, at any line', () => {
    const binding = moved('a', { rule: 'sa-foreign', cause: 'b', isShared: true })
    const use = moved('b', {
      rule: 'sa-foreign',
      cause: 'u',
      isShared: true,
      follows: ['other', 'b'],
      origin: { ...SYNC, line: 3 },
    })
    expect(rulesOf([use, binding])).toEqual([['sa-foreign', ['sa-foreign']]])
    // what is there already is no reason of what is new
    expect(rulesOf([use, { ...binding, state: 'standing' }])).toHaveLength(2)
    expect(rulesOf([use])).toEqual([['sa-foreign', []]])
  })

  test('what another rule finds at the same value', () => {
    expect(rulesOf([moved('a'), moved('b', { rule: 'sa-required', severity: 'low' })])).toEqual([
      ['namespace-confinement', ['sa-required']],
    ])
  })

  test('a finding that is itself followed is followed to the first', () => {
    const first = moved('a', { rule: 'rbac-escalation', cause: 'r', isShared: true, field: '/a' })
    const second = moved('b', { rule: 'sa-foreign', cause: 's', isShared: true, follows: ['r'], field: '/b' })
    const third = moved('c', { rule: 'sa-foreign', cause: 't', isShared: true, follows: ['s'], field: '/c' })
    expect(rulesOf([third, second, first])).toEqual([['rbac-escalation', ['sa-foreign', 'sa-foreign']]])
  })

  test('objects that a target namespace moves', () => {
    expect(rulesOf([...eleven, target()])).toEqual([['target-namespace', ['namespace-confinement']]])
  })

  test('not those of another line', () => {
    expect(rulesOf([moved('a'), target({ origin: { ...SYNC, line: 7 } })])).toEqual([
      ['namespace-confinement', []],
      ['target-namespace', []],
    ])
  })

  test('not those that exist already', () => {
    expect(countFindings([moved('a', { state: 'standing' }), target()])).toBe(2)
  })

  test('objects in a Namespace that is not the tenant’s, wherever they are written', () => {
    const namespace = moved('kube-extra', {
      ...{ rule: 'cluster-scoped-forbidden', object: object('kube-extra', 'Namespace', ''), cause: 'c9' },
      origin: { ...SYNC, file: 'namespace.yaml' },
    })
    const inside = (name: string) =>
      moved(name, {
        ...{ object: object(name, 'Deployment', 'kube-extra'), cause: name },
        origin: { ...SYNC, file: `${name}.yaml` },
      })
    expect(rulesOf([inside('a'), inside('b'), namespace])).toEqual([
      ['cluster-scoped-forbidden', ['namespace-confinement', 'namespace-confinement']],
    ])
    const foreign = { ...inside('c'), tenant: 'dev-team' }
    expect(countFindings([foreign, namespace])).toBe(2)
    expect(countFindings([{ ...inside('d'), object: object('d', 'Deployment', 'other') }, namespace])).toBe(2)
  })
})

describe('every surface shows the same', () => {
  const result = verdict({ result: 'fail', violations: [...eleven, target()] })
  const context = { kind: 'pull-request', repository: FLEET, headSha: 'a'.repeat(40) } as const

  test('titles and first lines count causes', () => {
    expect(summaryOf(result)).toMatch(/^1 violation in ops-team \(production, staging\)\./)
    expect(checkRunOf(result, context).title).toMatch(/^1 violation in /)
    expect(commentOf(result, context)).toContain('`production` ❌ 1 · `staging` ❌ 1')
    expect(terminalText(result, FLEET)).toMatch(/^fail: 1 violation in /m)
  })

  test('one annotation, one fold, with the objects in it', () => {
    const { annotations } = checkRunOf(result, context)
    expect(annotations.map(({ line, message }) => [line, message.match(/follows?.*/i)?.[0]])).toEqual([
      [20, 'Follows from this: namespace-confinement for 6 objects'],
    ])
    const comment = commentOf(result, context)!
    expect(comment.match(/<details>/g)).toHaveLength(1)
    expect(comment.length).toBeLessThan(2000)
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) expect(comment).toContain(`Deployment flux-system/${name}`)
  })

  test('a list of objects is bounded, and says how many there are', () => {
    const many = Array.from({ length: 500 }, (_, index) => moved(`web-${String(index).padStart(3, '0')}`))
    const one = verdict({ result: 'fail', violations: many })
    const comment = commentOf(one, context)!
    expect(comment.length).toBeLessThan(3000)
    expect(comment).toContain('`Deployment flux-system/web-019` and 480 more')
    expect(checkRunOf(one, context).annotations[0]!.message).toContain('and 480 more')
    expect(terminalText(one, FLEET)).toContain('and 480 more (-o json lists all)')
  })

  test('JSON lists each object, with the cause by which they belong together', () => {
    const { violations } = verdictJson(result) as { violations: Finding[] }
    expect(violations).toHaveLength(12)
    expect(new Set(violations.map(({ fingerprint }) => fingerprint)).size).toBe(12)
    expect(new Set(violations.map(({ cause }) => cause))).toEqual(new Set(['c0', 'c1']))
  })
})

test("a tenant's Kustomization of the fleet's own folder: one violation, whatever it builds", () => {
  const edits = [
    {
      in: 'ops-team/staging/more.yaml',
      text: `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: ops}
spec: {interval: 1m, url: https://github.com/acme/fleet, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: fleet, namespace: ops}
spec:
  interval: 5m
  prune: true
  serviceAccountName: ops-team
  path: ./tenants/staging
  sourceRef: {kind: GitRepository, name: fleet}
`,
    },
    { in: 'ops-team/staging/kustomization.yaml', from: 'resources:', to: 'resources:\n  - more.yaml' },
  ]
  const found = foundIn('fluxcd/flux2-multi-tenancy', [], edits)
  expect(found.map(({ finding: { rule, origin } }) => `${rule} ${origin.line}`)).toEqual(['kustomize-path-escape 13'])
  expect(found[0]?.followers.length).toBeGreaterThan(10)
})

test('a misspelled default account of a Capsule cluster: one violation, with what follows from the lost owner', () => {
  const target = {
    in: 'my-tenant/config/syncs.yaml',
    after: 'name: apps',
    from: 'prune',
    to: 'targetNamespace: my-tenant-web\n  prune',
  }
  const flag = {
    in: 'fleet/clusters/staging/flux-system/kustomization.yaml',
    from: '=gitops-reconciler',
    to: '=gitops-reconcilr',
  }
  const found = foundIn('capsule, multi-tenancy', [target], [flag])
  expect(found.map(({ finding: { rule, origin } }) => `${rule} ${origin.line}`)).toEqual(['flux-lockdown-weakened 24'])
  expect(found[0]?.followers.map(({ finding }) => finding.rule)).toContain('target-namespace')
})

/** What a change makes new in the fleet of a document. */
function foundIn(start: string, base: readonly Edit[], edits: readonly Edit[]) {
  const { world } = readRecipes().find(({ document }) => document.startsWith(start))!
  const before = edited(world, base)
  const clean = buildTrees(treesOf(before))
  const { verdict } = evaluateBuilt(buildTrees(treesOf(edited(before, edits)), clean), clean)
  return groupFindings(verdict.violations.filter(isNew))
}
