import { describe, expect, test } from 'vitest'
import { DEFAULT_SETTINGS, readApplySettings } from '../../../src/flux/apply-settings.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'

function read(spec: string) {
  const text = `kind: Kustomization\nmetadata: {name: k, namespace: apps}\nspec:\n${spec.replace(/^/gm, '  ')}\n`
  const [root] = parseDocuments({ repository: 'fleet', path: 'k.yaml' }, Buffer.from(text))
  if (root?.type !== 'map') throw new Error('no object')
  return readApplySettings({ root, trail: [] }, 'apps')
}

const told = (spec: string) =>
  read(spec).problems.map(({ message, fix, origin }) => `${origin.file}:${origin.line} ${message}. ${fix}`)

test('what is not written has the defaults of kustomize-controller', () => {
  expect(read('interval: 10m')).toEqual({ settings: DEFAULT_SETTINGS, problems: [] })
  expect(read('interval: 10m\nwait: null\nhealthChecks: null\nignore: []\ntimeout: ""')).toEqual(read('interval: 10m'))
})

test.each([
  ['kubeConfig: {secretRef: {name: edge}}', { kind: 'Secret', name: 'edge', key: '' }],
  ['kubeConfig: {secretRef: {name: edge, key: kubeconfig}}', { kind: 'Secret', name: 'edge', key: 'kubeconfig' }],
  ['kubeConfig: {configMapRef: {name: edge}}', { kind: 'ConfigMap', name: 'edge', key: '' }],
  ['kubeConfig: null', undefined],
])('%s', (spec, expected) => {
  expect(read(spec)).toMatchObject({ problems: [] })
  expect(read(spec).settings.kubeConfig).toEqual(expected)
})

test.each([
  'kubeConfig: {}',
  'kubeConfig: edge',
  'kubeConfig: {secretRef: {}}',
  'kubeConfig: {secretRef: {name: ""}}',
  'kubeConfig: {secretRef: {name: a}, configMapRef: {name: b}}',
  'kubeConfig: {secretRef: {name: ../../x}}',
  'kubeConfig: {secretRef: {name: ..}}',
  'kubeConfig: {secretRef: {name: 5}}',
  'kubeConfig: {secretRef: {name: a, key: 5}}',
])('%s says nothing about where it is applied, so it is not', spec => {
  expect(told(spec)).not.toEqual([])
})

describe('times', () => {
  test.each([
    ['interval: 5m', 300_000, 300_000, 270_000],
    ['interval: 10s', 10_000, 10_000, 30_000],
    ['interval: 1h\nretryInterval: 2m', 3_600_000, 120_000, 3_570_000],
    ['interval: 1h30m\ntimeout: 5m', 5_400_000, 5_400_000, 300_000],
    ['interval: 5m\ntimeout: 1.5s', 300_000, 300_000, 30_000],
    ['interval: 5m\ntimeout: 100ms', 300_000, 300_000, 30_000],
    ['interval: 1000h', 3_600_000_000, 3_600_000_000, 3_599_970_000],
  ])('%s', (spec, intervalMs, retryIntervalMs, timeoutMs) => {
    const { settings, problems } = read(spec)
    expect(problems).toEqual([])
    expect(settings).toMatchObject({ intervalMs, retryIntervalMs, timeoutMs })
  })

  test.each(['1d', '5', '-5m', '+5m', '5 m', '1e3s', 'm', '.5s', '5.m', '9999999999h', '5m\\n', '１m'])(
    'the API server refuses %j',
    text => {
      const allowed = 'a duration such as 10m or 1h30m (units ms, s, m, h)'
      expect(told(`interval: 5m\ntimeout: "${text}"`)).toEqual([
        `k.yaml:5 spec.timeout is not ${allowed}. Write ${allowed} at spec.timeout.`,
      ])
    },
  )
})

test('reads all that decides how it is applied', () => {
  const { settings, problems } = read(`interval: 5m
wait: true
force: true
deletionPolicy: WaitForTermination
healthChecks:
  - {kind: Deployment, name: web, namespace: apps}
  - {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: db, namespace: apps}
  - {apiVersion: v1, kind: Namespace, name: apps}
healthCheckExprs:
  - {apiVersion: a.io/v1, kind: A, current: "status.ok", failed: "status.bad", inProgress: "!has(status.ok)"}
  - {apiVersion: a.io/v1, current: "true"}
dependsOn:
  - {name: plain}
  - {name: near, readyExpr: "dep.status.x == 1"}
  - {name: far, namespace: flux-system, readyExpr: "true"}
ignore:
  - paths: [/spec/replicas, /metadata/labels/a~1b]
  - paths: [/data]
    target: {kind: "Deployment|StatefulSet", name: "web-.*", labelSelector: "app in (a, b)"}`)
  expect(problems).toEqual([])
  expect(settings).toMatchObject({
    wait: true,
    force: true,
    deletionPolicy: 'WaitForTermination',
    healthChecks: [
      { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'apps', name: 'web' },
      { apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease', namespace: 'apps', name: 'db' },
      { apiVersion: 'v1', kind: 'Namespace', namespace: '', name: 'apps' },
    ],
    healthCheckExprs: [
      { apiVersion: 'a.io/v1', kind: 'A', current: 'status.ok', failed: 'status.bad', inProgress: '!has(status.ok)' },
      { apiVersion: 'a.io/v1', kind: '', current: 'true' },
    ],
    readyExprs: [
      { dependency: 'apps/near', expression: 'dep.status.x == 1' },
      { dependency: 'flux-system/far', expression: 'true' },
    ],
    ignore: [
      { paths: ['/spec/replicas', '/metadata/labels/a~1b'] },
      {
        paths: ['/data'],
        target: { kind: 'Deployment|StatefulSet', name: 'web-.*', labelSelector: 'app in (a, b)' },
      },
    ],
  })
})

describe('what cannot be read names its line and the edit', () => {
  const pointer = 'a JSON pointer (RFC 6901) to a field below spec, data, or metadata.labels or annotations'
  test.each([
    ['wait: "true"', 'spec.wait is not true or false. Write true or false at spec.wait.'],
    ['force: 1', 'spec.force is not true or false. Write true or false at spec.force.'],
    [
      'deletionPolicy: orphan',
      'spec.deletionPolicy is not one of MirrorPrune, Delete, WaitForTermination, Orphan. Write one of MirrorPrune, Delete, WaitForTermination, Orphan at spec.deletionPolicy.',
    ],
    ['healthChecks: {kind: A}', 'spec.healthChecks is not a list. Write a list at spec.healthChecks.'],
    ['healthChecks: [{kind: A}]', 'spec.healthChecks[0].name is missing. Set spec.healthChecks[0].name.'],
    ['healthChecks: [{kind: "", name: a}]', 'spec.healthChecks[0].kind is missing. Set spec.healthChecks[0].kind.'],
    [
      'healthCheckExprs: [{apiVersion: a/v1, kind: A}]',
      'spec.healthCheckExprs[0].current is missing. Set spec.healthCheckExprs[0].current.',
    ],
    [
      'healthCheckExprs: [{apiVersion: a/v1, kind: A, current: "true"}, {apiVersion: a/v2, kind: A, current: "true"}]',
      'spec.healthCheckExprs[1].kind is not a kind that has no other entry in spec.healthCheckExprs. Write a kind that has no other entry in spec.healthCheckExprs at spec.healthCheckExprs[1].kind.',
    ],
    ...['""', '/', 'spec', '/metadata', '/metadata/name', '/kind', '/metadata/managedFields/0', '/a~2'].map(path => [
      `ignore: [{paths: [${JSON.stringify(path === '""' ? '' : path)}]}]`,
      path === '""'
        ? 'spec.ignore[0].paths[0] is missing. Set spec.ignore[0].paths[0].'
        : path === '/'
          ? ''
          : `spec.ignore[0].paths[0] is not ${pointer}. Write ${pointer} at spec.ignore[0].paths[0].`,
    ]),
    [
      'healthCheckExprs: [{apiVersion: a/v1, kind: A, current: "status.x =="}]',
      'spec.healthCheckExprs[0].current is not a CEL expression that can be evaluated: it ends too early. Write a CEL expression that can be evaluated at spec.healthCheckExprs[0].current.',
    ],
    [
      'dependsOn: [{name: a, readyExpr: "dep.status.ready"}]',
      'spec.dependsOn[0].readyExpr is not a CEL expression that can be evaluated: its result is not a bool. Write a CEL expression that can be evaluated at spec.dependsOn[0].readyExpr.',
    ],
    [
      'ignore: [{paths: [/a], target: {name: "("}}]',
      'spec.ignore[0].target.name is not a regular expression of Go. Write a regular expression of Go at spec.ignore[0].target.name.',
    ],
    [
      'ignore: [{paths: [/a], target: {labelSelector: "a in ("}}]',
      'spec.ignore[0].target.labelSelector is not a label selector. Write a label selector at spec.ignore[0].target.labelSelector.',
    ],
  ])('%s', (line, text) => {
    expect(told(`interval: 5m\n${line}`)).toEqual(text === '' ? [] : [`k.yaml:5 ${text}`])
  })
})
