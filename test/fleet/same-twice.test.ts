import { describe, expect, test } from 'vitest'
import { whyIncomplete } from '../../src/fleet/model/fleet.ts'
import { stringAt } from '../../src/kube/node.ts'
import { evaluationOf, type Files, fleetOf } from './fleet-of.ts'
import { fleetFiles, miniFleet } from './mini-fleet.ts'

const KUSTOMIZATION = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: NAME, namespace: flux-system}
spec:
  interval: 5m
  sourceRef: {kind: GitRepository, name: flux-system}
  path: ./NAME
  prune: true
`
const kustomization = (name: string, more = '') => KUSTOMIZATION.replaceAll('NAME', name) + more
const configMap = (name: string, data: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: flux-system}\ndata: {a: "${data}"}\n`
const source = (tag: string) =>
  `apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: chart, namespace: flux-system}\nspec: {interval: 1h, url: "oci://ghcr.io/acme/chart", ref: {tag: ${tag}}}\n`

/** A fleet whose root applies `one` and `two` from folders of that name. */
const withFiles = (files: Files) =>
  miniFleet({
    fleet: {
      'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, one.yaml, two.yaml]\n',
      'clusters/staging/one.yaml': kustomization('one'),
      'clusters/staging/two.yaml': kustomization('two', '  commonMetadata: {labels: {a: b}}\n'),
      'one/a.yaml': configMap('one', 'x'),
      'two/a.yaml': configMap('two', 'x'),
      ...files,
    },
  })

function errorsOf(files: Files): string[] {
  const { nodes } = fleetOf(withFiles(files))
  const keys = nodes.map(({ key }) => key)
  expect(new Set(keys).size).toBe(keys.length)
  return nodes.flatMap(node => {
    const error = whyIncomplete(node)
    return error ? [`${node.name}: ${error.message}`] : []
  })
}

/** The values of `a` in what each version of a Kustomization applies. */
function versionsOf(files: Files): Record<string, string[]> {
  expect(errorsOf(files)).toEqual([])
  const versions = fleetOf(withFiles(files)).nodes.filter(({ inVersions }) => inVersions)
  const data = versions.map(({ name, objects }) => {
    return [name, objects.flatMap(({ root }) => stringAt(root, ['data', 'a']) ?? [])]
  })
  return Object.fromEntries(data)
}

describe('two versions of one object that differ by labels only are no conflict', () => {
  test('a source', () => {
    expect(errorsOf({ 'one/s.yaml': source('v1'), 'two/s.yaml': source('v1') })).toEqual([])
    expect(errorsOf({ 'one/s.yaml': source('v1'), 'two/s.yaml': source('v2') })).toEqual([
      'two: OCIRepository flux-system/chart: rendered twice, with different content. Allowed: one object',
    ])
  })

  test('values', () => {
    const three = {
      'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, one.yaml, two.yaml, three.yaml]\n',
      'clusters/staging/three.yaml': kustomization(
        'three',
        '  postBuild: {substituteFrom: [{kind: ConfigMap, name: values}]}\n',
      ),
      'three/a.yaml': configMap('three', `\${a}`),
    }
    const values = (one: string, two: string) =>
      errorsOf({ ...three, 'one/v.yaml': configMap('values', one), 'two/v.yaml': configMap('values', two) })
    expect(values('x', 'x')).toEqual([])
    expect(values('x', 'y').join()).toContain('ConfigMap/flux-system/values: rendered twice')
  })

  test('a Kustomization', () => {
    const twice = (more: string, text = 'x') => ({
      'one/k.yaml': kustomization('three'),
      'two/k.yaml': kustomization('three', more),
      'three/a.yaml': configMap('three', text),
    })
    expect(versionsOf(twice(''))).toEqual({})
    const text = `\${a:=c}`
    const versions = { three: [text], 'three (by two)': ['b'] }
    expect(versionsOf(twice('  postBuild: {substitute: {a: b}}\n', text))).toEqual(versions)
  })
})

describe('a Kustomization that renders itself', () => {
  const itself = (declared: string, written: string, content = 'x') => ({
    'clusters/staging/one.yaml': kustomization('one', declared),
    'one/a.yaml': configMap('one', content),
    'one/k.yaml': kustomization('one', written),
  })

  test('as it is declared', () => {
    expect(versionsOf(itself('', ''))).toEqual({})
  })
  test('otherwise, where both apply the same', () => {
    expect(versionsOf(itself('  postBuild: {substitute: {a: b}}\n', ''))).toEqual({})
    expect(versionsOf(itself('  decryption: {provider: sops}\n', ''))).toEqual({})
  })
  test.for([
    ['other values', '  postBuild: {substitute: {a: b}}\n', '', `\${a:=c}`, ['b', `\${a:=c}`]],
    ['another namespace', '', '  targetNamespace: flux-test\n', 'x', ['x', 'x']],
    ['another account', '', '  serviceAccountName: other\n', 'x', ['x', 'x']],
    ['no schedule', '', '  suspend: true\n', 'x', ['x', 'x']],
  ] as const)('with %s is in two versions, and both are evaluated', ([, declared, written, content, [one, other]]) => {
    expect(versionsOf(itself(declared, written, content))).toEqual({ one: [one], 'one (by one)': [other] })
  })
  test('from another folder: it warns, and the worker applies neither', () => {
    const files = { 'one/k.yaml': kustomization('one').replace('./one', './two') }
    expect(versionsOf(files)).toEqual({ one: ['x'], 'one (by one)': ['x'] })
    const { verdict, nodes } = evaluationOf(withFiles(files))
    const warnings = verdict.warnings.filter(({ rule }) => rule === 'ownership-conflict')
    expect(warnings.map(({ message }) => message).join()).toContain('flux-system/one is rendered in two versions')
    const held = nodes.filter(({ refused }) => refused.includes('two versions of one Kustomization'))
    expect(held.map(({ name }) => name)).toEqual(['one', 'one (by one)'])
  })
  test('in another version, which renders one that applies the same', () => {
    const patch = '  patches: [{target: {kind: Kustomization}, patch: "- {op: add, path: /spec/wait, value: true}"}]\n'
    expect(Object.keys(versionsOf(itself(patch, '')))).toEqual(['one', 'one (by one)'])
  })
})

test('in the namespace of a tenant a second version is a conflict', () => {
  const owned = (more: string) => kustomization('three', more).replace('namespace: flux-system', 'namespace: apps')
  const errors = errorsOf({ 'one/k.yaml': owned(''), 'two/k.yaml': owned('  force: true\n') })
  expect(errors.join()).toContain('Kustomization apps/three: rendered twice on cluster staging')
})

test('of a tenant every second version is a conflict', () => {
  const own = fleetFiles['tenants/dev-team.yaml']!.split('---\n').at(-1)!
  const dev = {
    'deploy/kustomization.yaml': 'resources: [web.yaml, own.yaml]\n',
    'deploy/own.yaml': `${own}  postBuild: {substitute: {a: b}}\n`,
  }
  const { nodes } = fleetOf(miniFleet({ dev }))
  expect(nodes.find(({ name }) => name === 'dev-team')?.error?.rule).toBe('ownership-conflict')
})
