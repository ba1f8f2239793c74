import { describe, expect, test } from 'vitest'
import { placesOf } from '../../../src/kube/capabilities/capability.ts'
import { capabilityOf, families, fieldsNaming } from '../../../src/kube/capabilities/index.ts'
import { KUBERNETES_SCOPES } from '../../../src/kube/capabilities/scope.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'

const read = (text: string) => parseDocuments({ repository: '', path: 'a.yaml' }, Buffer.from(text))[0]!

describe('the table of capabilities', () => {
  const entries = families.flatMap(family => Object.entries(family))

  test('has every kind once', () => {
    const kinds = entries.map(([kind]) => kind)
    expect(kinds.filter((kind, at) => kinds.indexOf(kind) !== at)).toEqual([])
  })

  test('says of kinds of Kubernetes what Kubernetes says', () => {
    const other = entries.filter(([kind, { scope }]) => (KUBERNETES_SCOPES.get(kind) ?? scope) !== scope)
    expect(other.map(([kind]) => kind)).toEqual([])
  })

  test('names places that can be walked in one go', () => {
    const bad = entries.flatMap(([kind, { fields }]) =>
      fields.filter(({ at }) => at === '' || at.split('**').length > 2).map(({ at }) => `${kind} ${at}`),
    )
    expect(bad).toEqual([])
  })

  test('answers by group and kind, and nothing for words of JavaScript', () => {
    expect(capabilityOf('networking.istio.io/VirtualService')?.scope).toBe('Namespaced')
    expect(capabilityOf('constructor')).toBeUndefined()
    expect(fieldsNaming('networking.istio.io/DestinationRule', 'service').map(({ at }) => at)).toEqual(['spec.**.host'])
  })
})

describe('places of the table', () => {
  const root = read(
    'spec: {http: [{route: [{destination: {host: a}}, {destination: {host: b}}]}, {x: {y: {destination: {host: c}}}}]}\nmetadata: {annotations: {a.b/c: d}}\n',
  )
  const places = (place: string) => placesOf(root, place).map(path => path.join('.'))

  test('an item of a list or map, and any number of steps', () => {
    expect(places('spec.http.*.route.*.destination.host')).toEqual([
      'spec.http.0.route.0.destination.host',
      'spec.http.0.route.1.destination.host',
    ])
    expect(places('spec.**.destination.host')).toEqual([
      'spec.http.0.route.0.destination.host',
      'spec.http.0.route.1.destination.host',
      'spec.http.1.x.y.destination.host',
    ])
    expect(places('spec.**.host.deeper')).toEqual([])
  })

  test('the name of an annotation has dots', () => {
    expect(places('metadata.annotations.a\\.b/c')).toEqual(['metadata.annotations.a.b/c'])
  })
})
