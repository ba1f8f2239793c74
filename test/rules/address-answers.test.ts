import { expect, test } from 'vitest'
import { evaluationOf } from '../fleet/fleet-of.ts'
import { miniFleet, withResource } from '../fleet/mini-fleet.ts'

const policy = (validate: string) => `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: sources}
spec:
  validationFailureAction: Enforce
  rules:
    - name: urls
      match: {any: [{resources: {kinds: ["*/GitRepository", "*/OCIRepository", "*/ImageRepository", "*/Bucket"]}}]}
      validate: ${validate}
`
const source = (url: string) => `apiVersion: source.toolkit.fluxcd.io/v1
kind: ${url.startsWith('oci:') ? 'OCIRepository' : 'GitRepository'}
metadata: {name: asked, namespace: apps}
spec: {interval: 1m, url: "${url}"}
`

/** What the rules about policies say of a source, by rule and level. */
function said(validate: string, object: string): string[] {
  const { verdict } = evaluationOf(
    miniFleet({
      fleet: {
        'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, policies.yaml]\n',
        'tenants/policies.yaml': policy(validate),
      },
      dev: withResource(object),
    }),
  )
  return [...verdict.violations, ...verdict.warnings]
    .filter(({ rule, object: one }) => /^policy-|url-allowlist/.test(rule) && one.name === 'asked')
    .map(({ rule, level }) => `${rule} ${level}`)
}

const [NOTHING, OPEN, REFUSED, SPELLED] = [
  [],
  ['source-url-allowlist warning'],
  ['source-url-allowlist violation'],
  ['policy-denied violation'],
]

test.each([
  ['https://github.com/acme/?*', 'https://github.com/acme/app', NOTHING],
  ['https://github.com/acme/?*', 'https://github.com/ACME/app.git', SPELLED],
  ['https://github.com/acme/?*', 'ssh://git@github.com/acme/app', SPELLED],
  ['ssh://git@github.com/acme/?*', 'https://github.com/acme/app/', SPELLED],
  ['https://github.com/acme/?*', 'https://github.com/acme-evil/app', REFUSED],
  ['https://github.com/acme/?*', 'http://github.com/acme/app', REFUSED],
  ['https://github.com/acme*', 'https://github.com/acme/app', NOTHING],
  ['https://github.com/acme*', 'https://github.com/acme-evil/app', OPEN],
  ['https://github.com/acme*', 'https://github.com/acmeevil/app', OPEN],
  ['https://github.com/acme* | https://github.com/acme-evil/*', 'https://github.com/acme-evil/app', NOTHING],
  ['https://github.com/acme-*', 'https://github.com/acme-infra/app', NOTHING],
  ['https://github.com/acme/app', 'https://github.com/acme/app', NOTHING],
  ['https://github.com/acme/app*', 'https://github.com/acme/app.git', NOTHING],
  ['https://github.com/acme/app*', 'https://github.com/acme/app2', OPEN],
  ['https://github.com*', 'https://github.com.evil.example/acme', OPEN],
  ['https*', 'https://github.com/acme/app', NOTHING],
  ['oci://ghcr.io/acme*', 'oci://ghcr.io/acme2/app', OPEN],
])('the pattern %s and the address %s', (pattern, url, expected) => {
  expect(said(`{pattern: {spec: {url: "${pattern}"}}}`, source(url))).toEqual(expected)
  expect(said(`{anyPattern: [{spec: {interval: 9m}}, {spec: {url: "${pattern}"}}]}`, source(url))).toEqual(expected)
  const deny = (operator: string, key = '{{ request.object.spec.url }}') =>
    `{deny: {conditions: {all: [{key: "${key}", operator: ${operator}, value: [${pattern.split(' | ').map(one => JSON.stringify(one))}]}]}}}`
  expect(said(deny('AnyNotIn'), source(url))).toEqual(expected)
})

test('what the message of a policy names is no pattern', () => {
  const url = 'https://github.com/acme-evil/app'
  expect(said('{message: "https://github.com/acme*", pattern: {spec: {interval: 1m}}}', source(url))).toEqual(NOTHING)
})

test('a rule that refuses another field, too, does not hide the address', () => {
  const url = 'https://github.com/evil/app'
  const both = (interval: string) => `{pattern: {spec: {interval: ${interval}, url: "https://github.com/acme/*"}}}`
  expect(said(both('1m'), source(url))).toEqual(REFUSED)
  expect(said(both('9m'), source(url))).toHaveLength(1)
})

test('the address of a source inside another object counts, too', () => {
  const set = `apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSet
metadata: {name: set, namespace: apps}
spec:
  serviceAccountName: dev-team
  resources:
    - ${source('https://github.com/evil/app').trim().replaceAll('\n', '\n      ')}
`
  expect(said('{pattern: {spec: {url: "https://github.com/acme/*"}}}', set)).toEqual(REFUSED)
})
