import { expect, test } from 'vitest'
import { changesOf } from '../../../src/verdict/diff/changes-of.ts'
import { evaluateFleet } from '../../../src/verdict/evaluate-fleet.ts'
import { groupFailures } from '../../../src/verdict/summary.ts'
import { fleetOf } from '../../fleet/fleet-of.ts'
import { fleetFiles, miniFleet } from '../../fleet/mini-fleet.ts'

/** The path of dev-team's Kustomization comes from a patch; without it, what it builds is not valid. */
const fleet = (name: string) => ({
  'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml]\npatches: [{path: patch.yaml}]\n',
  'tenants/patch.yaml': `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: ${name}, namespace: apps}\nspec: {path: ./deploy}\n`,
  'tenants/dev-team.yaml': fleetFiles['tenants/dev-team.yaml']!.replace('./deploy', './broken'),
})
const dev = { 'broken/kustomization.yaml': 'resources: [gone.yaml]\n' }
const errorsOf = (name: string, before?: string) => {
  const base = before === undefined ? undefined : fleetOf(miniFleet({ fleet: fleet(before), dev }))
  const head = fleetOf(miniFleet({ fleet: fleet(name), dev }))
  const { verdict, nodes } = evaluateFleet(head, { revisionSet: 'c', ...(base ? { base } : {}) })
  return { verdict, failing: nodes.filter(one => one.failures.length > 0).map(({ key }) => key) }
}

test('an error of a Kustomization that follows from one of who renders it is not listed, and still holds it back', () => {
  const { verdict, failing } = errorsOf('devteam', 'dev-team')
  expect(verdict.result).toBe('error')
  expect(verdict.errors.map(({ node }) => node)).toEqual(['staging/flux-system/tenants'])
  expect(failing.sort()).toEqual(['staging/apps/dev-team', 'staging/flux-system/tenants'])
})

test('an error of its own is listed', () => {
  const { verdict } = errorsOf('dev-team')
  expect(verdict.errors).toEqual([])
  const broken = fleetOf(miniFleet({ dev: { 'deploy/kustomization.yaml': 'resources: [gone.yaml]\n' } }))
  const own = evaluateFleet(broken, { revisionSet: 'c' }).verdict
  expect(own.errors.map(({ node }) => node)).toEqual(['staging/apps/dev-team'])
})

test.each([
  ['a base is missing', {}, 'deploy/base/kustomization.yaml: does not exist'],
  ['a file of it is missing', { 'deploy/base/kustomization.yaml': 'resources: [web.yaml]' }, 'deploy/base/web.yaml'],
  [
    'a tab is in a file of it',
    { 'deploy/base/kustomization.yaml': 'resources: [web.yaml]', 'deploy/base/web.yaml': 'kind: A\n\tb: c\n' },
    'a tab in the indentation',
  ],
  ['a field of it is misspelled', { 'deploy/base/kustomization.yaml': 'resorces: [web.yaml]' }, 'field "resorces"'],
  ...[
    ['<<<<<<< HEAD\nkind: A\n=======\n', 'line 2: an unresolved merge conflict'],
    ['kind: a: b\n', 'line 1: a key or list inside a value; quote the value'],
  ].map(([text, said]): [string, object, string] => [
    said!,
    { 'deploy/base/kustomization.yaml': 'resources: [web.yaml]', 'deploy/base/web.yaml': text },
    said!,
  ]),
])('%s: patches that find nothing are below that error, once for all overlays', (_, base, said) => {
  const web = 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\n'
  const overlay = 'resources: [../base]\npatches: [{path: web.yaml}]\n'
  const dev = {
    'deploy/kustomization.yaml': 'resources: [a, b]\n',
    ...{ 'deploy/a/kustomization.yaml': overlay, 'deploy/a/web.yaml': web },
    ...{ 'deploy/b/kustomization.yaml': overlay, 'deploy/b/web.yaml': web },
    'deploy/base/other.txt': '',
    ...base,
  }
  const { verdict } = evaluateFleet(fleetOf(miniFleet({ dev })), { revisionSet: 'c' })
  const [group, second] = groupFailures(verdict.errors)
  expect([group?.failure.message, second]).toEqual([expect.stringContaining(said), undefined])
  expect(group?.followers.map(one => `${one.origin.file} ${one.message}`)).toEqual([
    'deploy/a/web.yaml patch: matches no Service named "web" in namespace "default"',
    'deploy/b/web.yaml patch: matches no Service named "web" in namespace "default"',
  ])
  expect(verdict.summary).toMatch(/^Could not be evaluated: (?:1 error|deploy)/)
})

test('a patch that finds nothing although all else builds is an error of its own, with the name that was meant', () => {
  const web = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: apps}\n`
  const dev = {
    'deploy/kustomization.yaml': 'resources: [web.yaml]\npatches: [{path: patch.yaml}]\n',
    ...{ 'deploy/web.yaml': web('web'), 'deploy/patch.yaml': web('wbe') },
  }
  const { verdict } = evaluateFleet(fleetOf(miniFleet({ dev })), { revisionSet: 'c' })
  expect(
    groupFailures(verdict.errors).map(({ failure, followers }) => [failure.message, failure.fix, followers]),
  ).toEqual([['patch: matches no ConfigMap named "wbe" in namespace "apps"', 'Did you mean "web"?', []]])
})

test('what Flux rejects where another error stands is below that one', () => {
  const waits = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: more, namespace: apps}
spec:
  dependsOn: [{name: a, namespace: 5}]
  path: ./more
  sourceRef: {kind: GitRepository, name: dev-team}
`
  const dev = { 'deploy/kustomization.yaml': 'resources: [more.yaml]\n', 'deploy/more.yaml': waits }
  const { verdict } = evaluateFleet(fleetOf(miniFleet({ dev })), { revisionSet: 'c' })
  const groups = groupFailures(verdict.errors).filter(({ failure }) => failure.origin.file === 'deploy/more.yaml')
  expect(groups.map(({ failure, followers }) => [failure.code, followers.map(one => one.code)])).toEqual([
    ['invalid-object', ['flux-invalid']],
  ])
})

test('what follows from a part whose violation blocks is no error besides, and nothing of it is called deleted', () => {
  const web = (more = '') => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: apps${more}}\n`
  const dev = (more?: string) => ({
    'deploy/kustomization.yaml': 'resources: [web.yaml]\npatches: [{path: patch.yaml}]\n',
    ...{ 'deploy/web.yaml': web(more), 'deploy/patch.yaml': web() },
  })
  const [base, head] = [fleetOf(miniFleet({ dev: dev() })), fleetOf(miniFleet({ dev: dev(', labels: {5: x}') }))]
  const { verdict } = evaluateFleet(head, { revisionSet: 'c', base })
  expect([verdict.result, verdict.errors]).toEqual(['fail', []])
  expect(new Set(verdict.violations.map(one => one.rule))).toEqual(new Set(['yaml-ambiguous']))
  const { nodes } = changesOf(base, head)
  expect(nodes.map(({ unknown, objects }) => [unknown, objects])).toEqual([['after', []]])
})
