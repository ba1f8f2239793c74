import { describe, expect, test } from 'vitest'
import { checkCustom } from '../../../../src/schema/custom/check-custom.ts'
import { catalogued, definitionOf } from '../../../../src/schema/custom/definition.ts'
import { ACCEPTED, change, REFUSED } from './cases.ts'
import { rootOf, WIDGETS } from './widget.ts'

const definition = definitionOf(rootOf(WIDGETS))!
const answer = (text: string) => checkCustom(rootOf(text), definition)
const problems = (text: string) => answer(text).problems.map(({ kind, path }) => `${kind} ${path.join('.')}`)
describe('what the API server refuses of a custom kind', () => {
  test.each(REFUSED)('%s', (_what, text, expected) => {
    expect(problems(text)).toEqual(expected)
  })

  test('a version that is not served, with those that are', () => {
    for (const version of ['v1alpha1', 'v2']) {
      expect(answer(change('example.com/v1', `example.com/${version}`)).problems).toMatchObject([
        { kind: 'unknown-kind', names: ['example.com/v1'] },
      ])
    }
  })
})

describe('what it accepts', () => {
  test.each(ACCEPTED)('%s', (_what, text) => {
    expect(answer(text)).toMatchObject({ problems: [], count: 0, undecided: 0, isKnown: true })
  })

  test('what SOPS encrypted can be anything, and is counted', () => {
    const sealed = 'ENC[AES256_GCM,data:xxxx,iv:aa,tag:bb,type:int]'
    expect(answer(change('size: 3', `size: ${sealed}`))).toMatchObject({ problems: [], undecided: 1 })
    expect(answer(change('source: {git: x}', `source: {git: '${sealed}'}`))).toMatchObject({ problems: [] })
  })
})

test('a format that is not compared is undecided, also within alternatives', () => {
  const email = definitionOf(
    rootOf(WIDGETS.replace('[{format: ipv4}, {format: ipv6}]', '[{format: ipv4}, {format: email}]')),
  )!
  const either = (value: string) =>
    checkCustom(rootOf(change('size: 3', `size: 3\n  formats: {either: ${value}}`)), email)
  expect(either('x@example.com')).toMatchObject({ problems: [], undecided: 1 })
  expect(either('1.2.3.4')).toMatchObject({ problems: [], undecided: 0 })
})

test('a text is compared with a format up to a length', () => {
  const host = (length: number) => answer(change('size: 3', `size: 3\n  formats: {host: ${'a'.repeat(length)}}`))
  expect(host(10_000)).toMatchObject({ count: 1, undecided: 0 })
  expect(host(10_001)).toMatchObject({ count: 0, undecided: 1 })
})

test('hostile texts against a pattern cost no more than others', () => {
  const steep = WIDGETS.replace('^[a-z]+(-[a-z]+)*$', '^(a+)+$').replace('maxLength: 8', 'maxLength: 100000')
  const text = change('ab-c', `${'a'.repeat(50_000)}b`)
  const { problems, undecided } = checkCustom(rootOf(text), definitionOf(rootOf(steep))!)
  expect([problems.length, undecided]).toEqual([1, 0])
})

describe('the catalog', () => {
  const HELM_RELEASE = `apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\nspec: {interval: 5m, chart: {spec: {chart: a, sourceRef: {kind: HelmRepository, name: b}}}, values: {any: 1}}\n`
  const release = (text: string) => checkCustom(rootOf(text), catalogued('helm.toolkit.fluxcd.io', 'HelmRelease')!)

  test('has the kinds of well-known projects', () => {
    for (const kind of 'source.toolkit.fluxcd.io/OCIRepository kustomize.toolkit.fluxcd.io/Kustomization capsule.clastix.io/Tenant kyverno.io/ClusterPolicy cert-manager.io/Certificate gateway.networking.k8s.io/HTTPRoute external-secrets.io/ExternalSecret monitoring.coreos.com/ServiceMonitor flagger.app/Canary'.split(
      ' ',
    )) {
      const [group = '', name = ''] = kind.split('/')
      expect(catalogued(group, name)?.served.length, kind).toBeGreaterThan(0)
    }
  })

  test('finds what is wrong in an object of one', () => {
    expect(release(HELM_RELEASE)).toMatchObject({ count: 0, isKnown: true })
    expect(release(HELM_RELEASE.replace('interval: 5m', 'intervall: 5m')).problems).toMatchObject([
      { kind: 'unknown-field', path: ['spec', 'intervall'], names: expect.arrayContaining(['interval']) },
      { kind: 'missing-field', path: ['spec', 'interval'] },
    ])
  })

  test('knows no other kind, whatever it is called', () => {
    for (const [group, kind] of [
      ['example.com', 'Widget'],
      ['__proto__', 'constructor'],
      ['cert-manager.io', 'toString'],
    ])
      expect(catalogued(group!, kind!)).toBeUndefined()
  })
})

test('Flux Operator adds its kinds to those about which Flux notifies', () => {
  const alert = (kind: string) => `apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {name: a}
spec: {providerRef: {name: p}, eventSources: [{kind: ${kind}, name: "*"}]}
`
  const receiver = (kind: string) => `apiVersion: notification.toolkit.fluxcd.io/v1
kind: Receiver
metadata: {name: a}
spec: {type: github, secretRef: {name: s}, resources: [{kind: ${kind}, name: a}]}
`
  for (const [kind, text] of [
    ['Alert', alert],
    ['Receiver', receiver],
  ] as const) {
    const definition = catalogued('notification.toolkit.fluxcd.io', kind)!
    const found = (one: string) => checkCustom(rootOf(text(one)), definition).problems.map(({ path }) => path.join('.'))
    for (const one of ['GitRepository', 'FluxInstance', 'ResourceSet', 'ResourceSetInputProvider'])
      expect(found(one), one).toEqual([])
    expect(found('Deployment')).toHaveLength(1)
  }
})
