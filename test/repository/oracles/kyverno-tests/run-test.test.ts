import { describe, expect, test } from 'vitest'
import { loadTest } from '../../../../tools/oracles/kyverno-tests/load-test.ts'
import { runTest } from '../../../../tools/oracles/kyverno-tests/run-test.ts'
import { treeOf } from '../../../base/git/tree-of.ts'

/** A ClusterPolicy `p` with one rule `r`. */
const rule = (validate: string, more = '', kinds = 'ConfigMap') => `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  validationFailureAction: Enforce
  rules:
    - name: r
      match: {any: [{resources: {kinds: [${kinds}]}}]}
      ${more}
      validate: ${validate}
`
const MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: apps}\ndata: {level: low}\n'

/** What a test finds for `a` and expects to pass; `why` where it is not evaluated. */
function found(policy: string, more: string, files: Readonly<Record<string, string>> = {}, resource = MAP): string {
  const text = `kind: Test\npolicies: [policy.yaml]\nresources: [resource.yaml]\n${more}\nresults:\n  - {policy: p, rule: r, resources: [a], result: pass}\n`
  const tree = treeOf({ 'kyverno-test.yaml': text, 'policy.yaml': policy, 'resource.yaml': resource, ...files })
  const [row] = runTest(loadTest(tree, 'kyverno-test.yaml', ''))
  return row!.actual === 'not evaluated' ? `not evaluated: ${row!.message}` : row!.actual
}

const DENY = (key: string) => `{deny: {conditions: {any: [{key: "${key}", operator: Equals, value: x}]}}}`

describe('values of a test', () => {
  const policy = rule(DENY('{{ foo.bar }}'))
  test.each([
    ['for every policy', 'globalValues: {foo.bar: x}', 'fail'],
    ['for every policy, another', 'globalValues: {foo.bar: y}', 'pass'],
    ['with a map', 'globalValues: {foo: {bar: x}}', 'fail'],
    ['for an object', 'policies: [{name: p, resources: [{name: a, values: {foo.bar: x}}]}]', 'fail'],
    [
      'for another object',
      'globalValues: {foo.bar: y}, policies: [{name: p, resources: [{name: b, values: {foo.bar: x}}]}]',
      'pass',
    ],
    ['for a rule', 'policies: [{name: p, rules: [{name: r, values: {foo.bar: x}}]}]', 'fail'],
    [
      'for a rule, before those for all',
      'globalValues: {foo.bar: y}, policies: [{name: p, rules: [{name: r, values: {foo.bar: x}}]}]',
      'fail',
    ],
    ['for the items of a loop', 'policies: [{name: p, rules: [{name: r, foreachValues: {foo.bar: [x, y]}}]}]', 'fail'],
    ['with a name like a prototype', 'globalValues: {foo.bar: y, __proto__.bar: x, constructor: x}', 'pass'],
  ])('%s', (_, values, expected) => {
    expect(found(policy, `values: {${values}}`)).toBe(expected)
    expect(found(policy, 'variables: values.yaml', { 'values.yaml': `{kind: Values, ${values}}` })).toBe(expected)
  })

  test('values in the test stand for the whole file', () => {
    const files = { 'values.yaml': 'globalValues: {foo.bar: x}' }
    expect(found(policy, 'variables: values.yaml\nvalues: {globalValues: {foo.bar: y}}', files)).toBe('pass')
  })

  test('stand for what only a cluster has', () => {
    const entries = 'context: [{name: foo, apiCall: {urlPath: /api/v1/pods}}]'
    const asked = rule(DENY('{{ foo.bar }}'), entries)
    expect(found(asked, 'values: {globalValues: {foo.bar: x}}')).toBe('fail')
    expect(found(asked, '')).toBe('not evaluated: the test has no response for apiCall of "/api/v1/pods"')
  })

  test('change the object and the operation', () => {
    expect(
      found(rule('{pattern: {data: {level: high}}}'), 'values: {globalValues: {request.object.data.level: high}}'),
    ).toBe('pass')
    const onUpdate = rule(DENY('{{ request.oldObject.data.level }}').replace('value: x', 'value: low'))
    const values = 'values: {policies: [{name: p, resources: [{name: a, values: {request.operation: UPDATE}}]}]}'
    expect(found(onUpdate, values)).toBe('fail')
  })

  test('labels and annotations of Namespaces', () => {
    const cel = `apiVersion: policies.kyverno.io/v1\nkind: ValidatingPolicy\nmetadata: {name: p}\nspec:\n  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}\n  validations: [{expression: "namespaceObject.metadata.annotations.a == 'b'"}]\n`
    const namespaces = 'values: {namespaces: [{metadata: {name: apps, annotations: {a: b}}}]}'
    expect(found(cel, namespaces)).toBe('pass')
    expect(found(cel, namespaces.replace('a: b', 'a: c'))).toBe('fail')
  })

  test('subresources', () => {
    const scale = 'apiVersion: autoscaling/v1\nkind: Scale\nmetadata: {name: a, namespace: apps}\nspec: {replicas: 9}\n'
    const values =
      'values: {subresources: [{subresource: {name: deployments/scale, kind: Scale, group: autoscaling, version: v1}, parentResource: {name: deployments, kind: Deployment, group: apps, version: v1}}]}'
    const policy = rule('{pattern: {spec: {replicas: "<5"}}}', '', 'Deployment/scale')
    expect(found(policy, values, {}, scale)).toBe('fail')
    expect(found(policy, values, {}, scale.replace('9', '2'))).toBe('pass')
    expect(found(policy, '', {}, scale)).toBe('skip')
  })
})

describe('objects of a test', () => {
  test('are complete as they are written', () => {
    const pod =
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: x:1}]}\nstatus: {phase: Failed}\n'
    expect(found(rule('{pattern: {spec: {containers: [{imagePullPolicy: "?*"}]}}}', '', 'Pod'), '', {}, pod)).toBe(
      'fail',
    )
    expect(
      found(rule('{pattern: {status: {phase: Failed}, metadata: {namespace: default}}}', '', 'Pod'), '', {}, pod),
    ).toBe('pass')
  })

  test('without a user in the test, no user asks', () => {
    expect(found(rule(DENY("{{ request.userInfo.username || 'x' }}")), '')).toBe('fail')
  })
})

describe('API calls', () => {
  const call = (entry: string) => rule(DENY('{{ foo }}'), `context: [{name: foo, ${entry}}]`)
  const cluster = {
    'cluster.yaml':
      'kind: ClusterResource\nspec:\n  resources:\n    - {apiVersion: v1, kind: ConfigMap, metadata: {name: m, namespace: apps}, data: {k: x}}\n    - {apiVersion: v1, kind: Namespace, metadata: {name: apps, labels: {l: x}}}\n',
  }
  test.each([
    [
      'an object',
      'apiCall: {urlPath: "/api/v1/namespaces/{{request.namespace}}/configmaps/m", jmesPath: data.k}',
      'fail',
    ],
    ['a Namespace', 'apiCall: {urlPath: "/api/v1/namespaces/apps", jmesPath: metadata.labels.l}', 'fail'],
    ['a list', `apiCall: {urlPath: /api/v1/configmaps, jmesPath: "items[?metadata.name=='m'].data.k | [0]"}`, 'fail'],
    ['an object that is absent', 'apiCall: {urlPath: /api/v1/namespaces/apps/configmaps/n, default: x}', 'fail'],
    ['a ConfigMap', 'configMap: {name: m, namespace: apps}', 'pass'],
  ])('read the cluster of the test: %s', (_, entry, expected) => {
    expect(found(call(entry), 'clusterResources: [cluster.yaml]', cluster)).toBe(expected)
  })

  test('have the responses of the test', () => {
    const responses =
      'apiCallResponses: [{urlPath: /x, response: {body: {v: x}}}, {urlPath: /x, method: POST, response: {body: {v: y}}}, {url: "https://s.example.com/q", response: {statusCode: 500, body: {v: x}}}]'
    expect(found(call('apiCall: {urlPath: /x, jmesPath: v}'), responses)).toBe('fail')
    expect(found(call('apiCall: {urlPath: /x, method: POST, jmesPath: v}'), responses)).toBe('pass')
    expect(found(call('apiCall: {service: {url: "https://s.example.com/q"}, default: x}'), responses)).toBe('fail')
    expect(found(call('apiCall: {service: {url: "https://s.example.com/r"}, jmesPath: v}'), responses)).toContain(
      'asks a service',
    )
  })

  test('and a path that is not one of an object is not guessed', () => {
    for (const path of [
      '/api/v1/namespaces/apps/../kube-system/configmaps/m',
      '/healthz',
      '/api/v1/pods?limit=1',
      '/api/v1/namespaces/a%2e/pods',
    ])
      expect(found(call(`apiCall: {urlPath: "${path}"}`), 'clusterResources: [cluster.yaml]', cluster)).toContain(
        'is not the path of an object',
      )
  })
})

test('global context entries', () => {
  const asked = (name: string) =>
    rule(DENY('{{ foo }}'), `context: [{name: foo, globalReference: {name: ${name}, jmesPath: "[0].metadata.name"}}]`)
  const entries =
    'globalContextEntries: [{name: g, data: {items: [{metadata: {name: x}}]}, projections: [{name: all, path: items}]}, {name: f, resourceFiles: [resource.yaml]}]'
  expect(found(asked('g.all'), entries)).toBe('fail')
  expect(found(asked('f'), entries)).toBe('pass')
  expect(found(asked('h'), entries)).toContain('GlobalContextEntry h is not in the fleet')
})

describe('the context of CEL', () => {
  const cel = (expression: string) =>
    `apiVersion: policies.kyverno.io/v1\nkind: ValidatingPolicy\nmetadata: {name: p}\nspec:\n  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}\n  validations: [{expression: '${expression}'}]\n`
  const files = {
    'context.yaml':
      'kind: Context\nspec:\n  resources:\n    - {apiVersion: v1, kind: Secret, metadata: {name: s, namespace: apps}, data: {k: v}}\n  images:\n    - {image: "a:1", config: {user: root}}\n',
  }
  const more =
    'context: context.yaml\napiCallResponses: [{url: "https://a.example.com", method: GET, response: {body: {n: 1}}}]\nglobalContextEntries: [{name: g, data: {n: 2}}]'
  test.each([
    ['resource.Get("v1", "secrets", "apps", "s").data.k == "v"', 'pass'],
    ['resource.get("v1", "secrets", "apps", "t") == null', 'pass'],
    ['resource.List("v1", "secrets", "apps").items.size() == 1', 'pass'],
    ['resource.List("v1", "secrets", "other").items.size() == 0', 'pass'],
    ['resource.List("v1", "pods", "apps").items.size() == 0', 'fail'],
    ['image.GetMetadata("a:1").config.user == "root"', 'pass'],
    ['image.GetMetadata("b:1").config.user == "root"', 'fail'],
    ['http.Get("https://a.example.com").body.n == 1', 'pass'],
    [
      'http.Get("https://b.example.com").body.n == 1',
      'not evaluated: http.Get needs information from outside the fleet',
    ],
    ['globalContext.Get("g", "").n == 2 && globalContext.Get("g", "n") == 2', 'pass'],
    ['globalContext.Get("h", "") == null', 'pass'],
  ])('%s', (expression, expected) => {
    expect(found(cel(expression), more, files)).toBe(expected)
  })
})

test('conditions of CEL that are not met are a skip', () => {
  const policy = rule(
    '{cel: {expressions: [{expression: "false"}]}}',
    'celPreconditions: [{name: n, expression: "object.metadata.name == \'b\'"}]',
  )
  expect(found(policy, '')).toBe('skip')
  expect(found(policy.replace("'b'", "'a'"), '')).toBe('fail')
})
