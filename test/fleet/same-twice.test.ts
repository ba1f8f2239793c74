import { describe, expect, test } from 'vitest'
import { whyIncomplete } from '../../src/fleet/model/fleet.ts'
import { type Files, fleetOf } from './fleet-of.ts'
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

/** The errors of a fleet whose root applies `one` and `two` from folders of that name. */
function errorsOf(files: Files): string[] {
  const { nodes } = fleetOf(
    miniFleet({
      fleet: {
        'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, one.yaml, two.yaml]\n',
        'clusters/staging/one.yaml': kustomization('one'),
        'clusters/staging/two.yaml': kustomization('two', '  commonMetadata: {labels: {a: b}}\n'),
        'one/a.yaml': configMap('one', 'x'),
        'two/a.yaml': configMap('two', 'x'),
        ...files,
      },
    }),
  )
  const keys = nodes.map(({ key }) => key)
  expect(new Set(keys).size).toBe(keys.length)
  return nodes.flatMap(node => {
    const error = whyIncomplete(node)
    return error ? [`${node.name}: ${error.message}`] : []
  })
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
    const twice = (more: string) =>
      errorsOf({
        'one/k.yaml': kustomization('three'),
        'two/k.yaml': kustomization('three', more),
        'three/a.yaml': configMap('three', 'x'),
      })
    expect(twice('')).toEqual([])
    expect(twice('  force: true\n')).toEqual([
      'two: Kustomization flux-system/three: rendered twice on cluster staging. Allowed: one Kustomization of this name',
    ])
  })
})

describe('a Kustomization that renders itself', () => {
  const itself = (declared: string, written: string, content = 'x') =>
    errorsOf({
      'clusters/staging/one.yaml': kustomization('one', declared),
      'one/a.yaml': configMap('one', content),
      'one/k.yaml': kustomization('one', written),
    })

  test('as it is declared', () => {
    expect(itself('', '')).toEqual([])
  })
  test('otherwise, where both apply the same', () => {
    expect(itself('  postBuild: {substitute: {a: b}}\n', '')).toEqual([])
    expect(itself('  decryption: {provider: sops}\n', '')).toEqual([])
  })
  test.for([
    ['other values', '  postBuild: {substitute: {a: b}}\n', '', `\${a:=c}`],
    ['another namespace', '', '  targetNamespace: apps\n', 'x'],
    ['another account', '', '  serviceAccountName: other\n', 'x'],
    ['no schedule', '', '  suspend: true\n', 'x'],
  ] as const)('with %s is a conflict', ([, declared, written, content]) => {
    const text = itself(declared, written, content).join()
    expect(text).toContain(
      'one: Kustomization flux-system/one: renders another version of itself. Allowed: the version that declares it',
    )
  })
})

test('a Kustomization that renders itself from another folder is a conflict', () => {
  const written = kustomization('one').replace('./one', './two')
  expect(errorsOf({ 'one/k.yaml': written }).join()).toContain('renders another version of itself')
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
