import { describe, expect, test } from 'vitest'
import { renderResourceSet } from '../../../src/fleet/rendering/render-resource-set.ts'
import { type MapNode, toJson } from '../../../src/kube/node.ts'
import { parseText } from '../../../src/kube/yaml/parse-documents.ts'

const origin = { repository: 'r', file: 'f.yaml', line: 1, column: 1 }

function rendered(spec: string) {
  const text = `apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: s, namespace: flux-system}\nspec:\n${spec}`
  const root = parseText(text, (line, column) => ({ ...origin, line, column })).documents[0] as MapNode
  const { objects, left } = renderResourceSet({ root, trail: [] })
  return { objects: objects.map(object => toJson(object.root)), left: left.map(({ at, why }) => `${at}: ${why}`) }
}

const configMap = (name: string, data = '{}') =>
  `  - {apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}, namespace: a}, data: ${data}}\n`
const made = (name: unknown, data: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'a' },
  data,
})

describe('what is rendered of a ResourceSet', () => {
  test('objects that are written out, once for all sets of inputs', () => {
    const both = { objects: [made('x'), made('y')], left: [] }
    expect(rendered(`  resources:\n${configMap('x')}${configMap('y')}`)).toEqual(both)
    expect(rendered(`  inputs: [{a: 1}, {a: 2}]\n  resources:\n${configMap('x')}${configMap('y')}`)).toEqual(both)
  })

  test('fields of its inputs, for each set of them', () => {
    const spec = `  inputs: [{team: a, deep: {er: b}}, {team: c, deep: {er: d}}]\n  resources:\n${configMap("'cm-<< inputs.team >>'", "{v: '<<inputs.deep.er>>-<< inputs.team >>'}")}`
    expect(rendered(spec)).toEqual({ objects: [made('cm-a', { v: 'b-a' }), made('cm-c', { v: 'd-c' })], left: [] })
  })

  test('what the operator says about the provider', () => {
    const spec = `  inputs: [{a: 1}]\n  resources:\n${configMap('x', "{v: '<< inputs.provider.namespace >>/<< inputs.provider.name >>'}")}`
    expect(rendered(spec).objects).toEqual([made('x', { v: 'flux-system/s' })])
  })

  test('values as YAML reads them where they are put', () => {
    const value = (written: string, template = "'<< inputs.v >>'") => {
      const { objects, left } = rendered(
        `  inputs: [{v: ${written}}]\n  resources:\n${configMap('x', `{v: ${template}}`)}`,
      )
      return left[0] ?? (objects[0] as { data: { v: unknown } }).data.v
    }
    expect(value('text')).toBe('text')
    expect(value("'3'")).toBe(3)
    expect(value('3')).toBe(3)
    expect(value("'true'")).toBe(true)
    expect(value("'1.10'")).toBe(1.1)
    expect(value("'3'", "'v<< inputs.v >>'")).toBe('v3')
    expect(value("'https://a.example/b'")).toBe('https://a.example/b')
    expect(value("'3'", "'a: << inputs.v >>'")).toBe('a: 3')
    expect(value("'>=1.0.0'", "'a: << inputs.v >>'")).toBe('a: >=1.0.0')
    const changes = 'spec.resources[0]: an input value changes the text around it'
    for (const broken of ["'a: b'", "'a #b'", "'*'", "'{}'", '"x\\ny: z"'])
      expect([broken, value(broken)]).toEqual([broken, changes])
    expect(value('"it\'s"', "'a: << inputs.v >>'")).toBe(changes)
    expect(value('1000000')).toBe('spec.resources[0]: inputs.v is not a single string')
  })

  test('a template of several documents', () => {
    const spec = `  inputs: [{team: a}, {team: b}]\n  resourcesTemplate: |\n    ---\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: << inputs.team >>-1, namespace: a}\n    data: {}\n    ---\n    apiVersion: v1\n    kind: ConfigMap\n    metadata:\n      name:\n        <<- /**/ >>\n`
    expect(rendered(spec).left).toEqual(['spec.resourcesTemplate: it uses template functions other than input fields'])
    const plain = `  inputs: [{team: a}, {team: b}]\n  resourcesTemplate: |\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: << inputs.team >>, namespace: n   <<- inputs.team ->>    }\n    data: {}\n`
    expect(rendered(plain).left).toEqual([])
    expect(rendered(plain).objects).toMatchObject([
      { metadata: { name: 'a', namespace: 'na' } },
      { metadata: { name: 'b', namespace: 'nb' } },
    ])
  })

  test('steps, duplicates once, and nothing that is switched off', () => {
    const off =
      '{apiVersion: v1, kind: ConfigMap, metadata: {name: off, namespace: a, annotations: {fluxcd.controlplane.io/reconcile: disabled}}}'
    const spec = `  inputs: [{a: 1}]\n  steps:\n  - name: one\n    resources:\n  ${configMap('x')}  ${configMap('x', '{v: other}')}    - ${off}\n  - name: two\n    resources:\n  ${configMap('y')}`
    expect(rendered(spec)).toEqual({ objects: [made('x'), made('y')], left: [] })
  })

  test('its common labels', () => {
    const spec = `  commonMetadata: {labels: {toolkit.fluxcd.io/tenant: dev}}\n  resources:\n${configMap('x')}`
    expect(rendered(spec).objects[0]).toMatchObject({ metadata: { labels: { 'toolkit.fluxcd.io/tenant': 'dev' } } })
  })
})

describe('what is left, and only that', () => {
  const one = (spec: string) => rendered(spec)

  test('functions, conditions and variables', () => {
    for (const action of [
      'inputs.a | quote',
      'if inputs.a',
      'slugify inputs.a',
      '$x := inputs.a',
      'index inputs "a"',
      'inputs',
      '.a',
    ]) {
      const spec = `  inputs: [{a: v}]\n  resources:\n${configMap('x')}${configMap('y', `{v: '<< ${action} >>'}`)}`
      expect([action, one(spec)]).toEqual([
        action,
        { objects: [made('x')], left: ['spec.resources[1]: it uses template functions other than input fields'] },
      ])
    }
  })

  test('inputs that are not set, and keys that are templates', () => {
    const spec = `  inputs: [{a: v}]\n  resources:\n${configMap('x')}${configMap('y', "{v: '<< inputs.b >>'}")}${configMap('z', "{'<< inputs.a >>': v}")}`
    expect(one(spec)).toEqual({
      objects: [made('x')],
      left: [
        'spec.resources[1]: inputs.b is not set in its inputs',
        'spec.resources[2]: one of its keys is a template',
      ],
    })
    expect(one(`  resources:\n${configMap("'<< inputs.a >>'")}`).left).toEqual([
      'spec.resources[0]: inputs.a is not set in its inputs',
    ])
  })

  test('inputs of providers', () => {
    const spec = `  inputsFrom: [{name: p}]\n  resources:\n${configMap('x')}${configMap("'<< inputs.a >>'")}`
    expect(one(spec)).toEqual({
      objects: [made('x')],
      left: [
        'spec.resources[1]: only the cluster has its inputs',
        'spec.inputsFrom: only the cluster has the inputs of its providers',
      ],
    })
  })

  test('permuted inputs, and data that is copied', () => {
    const permuted = `  inputs: [{a: v}]\n  inputStrategy: {name: Permute}\n  resources:\n${configMap("'<< inputs.a >>'")}`
    expect(one(permuted)).toEqual({ objects: [], left: ['spec.resources[0]: its input strategy is Permute'] })
    const copied =
      '  resources:\n  - {apiVersion: v1, kind: Secret, metadata: {name: x, namespace: a, annotations: {fluxcd.controlplane.io/copyFrom: b/x}}}\n'
    expect(one(copied).left).toEqual(['spec.resources[0]: the cluster fills its data (copyFrom)'])
  })

  test('what its inputs make too much of', () => {
    const inputs = Array.from({ length: 3000 }, (_, at) => `{a: v${at}}`).join(', ')
    const { objects, left } = one(
      `  inputs: [${inputs}]\n  resources:\n${configMap("'<< inputs.a >>'")}${configMap("'b<< inputs.a >>'")}${configMap('z')}`,
    )
    expect(left).toEqual([
      'spec.resources[1]: it makes more than 5000 objects (render-limits)',
      'spec.resources[2]: it makes more than 5000 objects (render-limits)',
    ])
    expect(objects).toHaveLength(5000)
  })
})
