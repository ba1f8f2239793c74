import { expect, test } from 'vitest'
import { buildFleet } from '../../src/fleet/graph/build-fleet.ts'
import type { FleetInput } from '../../src/fleet/model/input.ts'
import { openSnapshot, packSnapshot } from '../../src/git/tree.ts'
import { evaluateFleet } from '../../src/verdict/evaluate-fleet.ts'
import { evaluationOf, type Files, inputOf } from '../fleet/fleet-of.ts'
import { DEV_URL, fleetFiles, miniFleet, withResource } from '../fleet/mini-fleet.ts'

const config = (namespace: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  namespace: ${namespace}\n`
const overlay = (more: string, resources = 'e.yaml') => ({
  'deploy/kustomization.yaml': `resources:\n  - web.yaml\n  - ${resources}\n${more}`,
})
const child = (spec: string) =>
  `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: k, namespace: apps}\nspec:\n  serviceAccountName: dev-team\n  sourceRef: {kind: GitRepository, name: dev-team}\n  path: ./e\n${spec}`

/** What stops the rendering, and the file behind it that the tenant then changes. */
const cases: [string, Files, string][] = [
  ['a remote base', overlay('  - github.com/evil/x\n'), 'deploy/e.yaml'],
  ['a field that we do not know', overlay('images: [{name: a, newTag: b}]\n'), 'deploy/e.yaml'],
  ['a file that is not there', overlay('  - missing.yaml\n'), 'deploy/e.yaml'],
  [
    'a file that is no YAML',
    { ...overlay('  - broken.yaml\n', '../f/e.yaml'), 'deploy/broken.yaml': 'a: [\n' },
    'f/e.yaml',
  ],
  [
    'an overlay below',
    {
      ...overlay('  - ../b\n', '../c'),
      'b/kustomization.yaml': 'resources: [a.yaml]\nnamePrefix: x-\n',
      'b/a.yaml': config('apps').replace('name: x', 'name: y'),
      'c/kustomization.yaml': 'resources: [e.yaml]\n',
    },
    'c/e.yaml',
  ],
  ['a generator that we do not know', overlay('secretGenerator: [{name: s, files: [key=../s/e.yaml]}]\n'), 's/e.yaml'],
  ['a field of the Kustomization', withResource(child('  images: [{name: a, newTag: b}]\n')), 'e/below/e.yaml'],
  ['its components', withResource(child('  components: [../c]\n')), 'c/e.yaml'],
]

test.each(cases)('what stands behind %s is touched when it changes', (_what, files, file) => {
  const given = (namespace: string) => miniFleet({ dev: { ...files, [file]: config(namespace) } })
  expect(evaluationOf(given('apps'), { base: given('apps') }).verdict.result).toBe('pass')
  expect(evaluationOf(given('ops'), { base: given('apps') }).verdict.result).not.toBe('pass')
})

test.each(cases)('%s is not touched by a file that nothing names', (_what, files, file) => {
  const given = (text: string) => miniFleet({ dev: { ...files, [file]: config('apps'), 'docs/readme.md': text } })
  expect(evaluationOf(given('b'), { base: given('a') }).verdict.result).toBe('pass')
})

test('values that a failed node would substitute count as what it reads', () => {
  const values = (value: string) =>
    `${child('  postBuild: {substituteFrom: [{kind: ConfigMap, name: x}]}\n')}---\n${config('apps')}data: {a: ${value}}\n`
  const failing = `${config('apps')}data: {a: "$\{missing}"}\n`
  const given = (value: string) => miniFleet({ dev: { ...withResource(values(value)), 'e/e.yaml': failing } })
  expect(evaluationOf(given('a'), { base: given('a') }).verdict.result).toBe('pass')
  expect(evaluationOf(given('b'), { base: given('a') }).verdict.result).toBe('error')
})

test('a source with submodules is touched by each of its changes', () => {
  const field = 'recurseSubmodules: true'
  const file = fleetFiles['tenants/dev-team.yaml']!.replace('  interval: 1m\n', `  interval: 1m\n  ${field}\n`)
  const withSubmodule = (text: string): FleetInput => {
    const input = inputOf(miniFleet({ fleet: { 'tenants/dev-team.yaml': file } }))
    const files = [
      { path: 'deploy/kustomization.yaml', content: 'resources: []\n' },
      { path: 'docs/readme.md', content: text },
      { path: 'lib', content: '', mode: '160000' as const, id: 'c'.repeat(40) },
    ]
    const tree = openSnapshot(packSnapshot(files))
    return { ...input, sources: input.sources.map(source => (source.url === DEV_URL ? { ...source, tree } : source)) }
  }
  const evaluated = (head: string, base: string) =>
    evaluateFleet(buildFleet(withSubmodule(head)), { revisionSet: '', base: buildFleet(withSubmodule(base)) })
  expect(evaluated('a', 'a').nodes[2]).toMatchObject({ failures: [{ code: 'flux-unsupported' }] })
  expect(evaluated('a', 'a').verdict.result).toBe('pass')
  expect(evaluated('b', 'a').verdict.result).toBe('error')
})
