import { describe, expect, test } from 'vitest'
import { evaluationOf } from '../fleet/fleet-of.ts'
import { miniFleet, withResource } from '../fleet/mini-fleet.ts'

/** A kind of somebody else, known to the fleet by its definition. */
const definition = (group: string, kind: string) => {
  const plural = `${kind.toLowerCase()}s`
  return `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${plural}.${group}}
spec: {group: ${group}, scope: Namespaced, names: {kind: ${kind}, plural: ${plural}}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}
`
}

/** Rules that a new object of dev-team breaks. */
function rulesOf(apiVersion: string, kind: string, spec: string): string[] {
  const text = `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: x, namespace: apps}\nspec: ${spec}\n`
  const fleet = {
    'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, crds.yaml]\n',
    'tenants/crds.yaml': definition('example.com', kind),
  }
  const { violations, warnings, errors } = evaluationOf(miniFleet({ fleet, dev: withResource(text) }), {
    base: miniFleet({ fleet }),
  }).verdict
  return [
    ...new Set([
      ...[...violations, ...warnings].filter(({ state }) => state === 'new').map(({ rule }) => rule),
      ...errors.filter(({ state }) => state === 'new').map(({ code }) => code),
    ]),
  ].sort()
}

const FOREIGN =
  '{sourceRef: {kind: GitRepository, name: ops-team, namespace: ops}, interval: 1h, serviceAccountName: dev-team}'
const OWN = '{sourceRef: {kind: GitRepository, name: dev-team}, interval: 1h, serviceAccountName: dev-team}'

describe.each([
  ['infra.contrib.fluxcd.io/v1alpha2', 'Terraform'],
  ['cue.contrib.flux.io/v1alpha1', 'CueInstance'],
])('%s %s is asked what a Kustomization is', (apiVersion, kind) => {
  test('a source of another tenant', () => {
    expect(rulesOf(apiVersion, kind, FOREIGN)).toContain('cross-namespace-ref')
    expect(rulesOf(apiVersion, kind, OWN)).not.toContain('cross-namespace-ref')
  })
  test('a very short interval', () => {
    expect(rulesOf(apiVersion, kind, OWN.replace('1h', '1s'))).toContain('interval-limits')
    expect(rulesOf(apiVersion, kind, OWN)).not.toContain('interval-limits')
  })
  test('and a kind that is only called like it is not', () => {
    expect(rulesOf('example.com/v1', kind, OWN.replace('1h', '1s'))).not.toContain('interval-limits')
    expect(rulesOf('example.com/v1', kind, OWN)).not.toContain('cross-namespace-ref')
  })
})

describe('KluctlDeployment', () => {
  test('has an interval like the others, and a kind that is only called like it has not', () => {
    const spec = '{interval: 1s, source: {git: {url: "https://github.com/acme/dev-team"}}}'
    expect(rulesOf('gitops.kluctl.io/v1beta1', 'KluctlDeployment', spec)).toContain('interval-limits')
    expect(rulesOf('gitops.kluctl.io/v1beta1', 'KluctlDeployment', spec.replace('1s', '1h'))).not.toContain(
      'interval-limits',
    )
    expect(rulesOf('example.com/v1', 'KluctlDeployment', spec)).not.toContain('interval-limits')
  })
})

test.each([
  ['infra.contrib.fluxcd.io/v1alpha2', 'Terraform'],
  ['gitops.kluctl.io/v1beta1', 'KluctlDeployment'],
  ['cue.contrib.flux.io/v1alpha1', 'CueInstance'],
])('%s %s without an account of its own is told', (apiVersion, kind) => {
  const spec = '{interval: 1h, path: ./a}'
  const found = rulesOf(apiVersion, kind, spec)
  const twin = rulesOf('example.com/v1', kind, spec)
  expect(found.filter(rule => rule.startsWith('sa-'))).not.toEqual([])
  expect(twin.filter(rule => rule.startsWith('sa-'))).toEqual([])
})
