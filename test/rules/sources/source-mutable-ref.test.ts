import { expect, test } from 'vitest'
import { evaluationOf } from '../../fleet/fleet-of.ts'
import { fleetFiles, miniFleet, withResource } from '../../fleet/mini-fleet.ts'

const source = (ref: string) =>
  `apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: x, namespace: apps}\nspec: {interval: 1m, url: "https://github.com/acme/dev-team", ref: ${ref}}\n`

function levels(cluster: string, ref: string, manifests = source(ref)) {
  const rename = (text: string) => text.replaceAll('clusters/staging', `clusters/${cluster}`)
  const files = Object.entries(fleetFiles).map(([path, text]) => [rename(path), rename(text)] as const)
  const given = { ...miniFleet({ dev: withResource(manifests) }), fleet: Object.fromEntries(files) }
  const { violations, warnings } = evaluationOf(given).verdict
  return [...violations, ...warnings].flatMap(one => (one.rule === 'source-mutable-ref' ? [one.level] : []))
}

test.each(['production', 'prod-eu', 'eu.prod', 'prod1'])(
  'any newer tag on %s is a violation, a tag a warning',
  name => {
    expect(levels(name, '{semver: ">=0.0.0-0"}')).toEqual(['violation'])
    expect(levels(name, '{tag: v1}')).toEqual(['warning'])
    expect(levels(name, '{semver: 1.2.3}')).toEqual(['warning'])
  },
)

test.each(['staging', 'products', 'nonproduct'])('on %s both are warnings', name => {
  expect(levels(name, '{semver: 1.x}')).toEqual(['warning'])
})

const oci = (more: string) =>
  `apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: x, namespace: apps}\nspec: {interval: 1m, url: "oci://ghcr.io/acme/chart", ref: {semver: ">=1.0.0"}}\n---\n${more}`
const release = `apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x, namespace: apps}\nspec: {interval: 5m, serviceAccountName: dev-team, chartRef: {kind: OCIRepository, name: x}}\n`
const kustomization = `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: more, namespace: apps}\nspec: {interval: 5m, prune: true, serviceAccountName: dev-team, path: ./, sourceRef: {kind: OCIRepository, name: x}}\n`

test('a range of a chart is a warning, of what a Kustomization deploys a violation', () => {
  expect(levels('production', '', oci(release))).toEqual(['warning'])
  expect(levels('production', '', oci(kustomization))).toEqual(['violation'])
  expect(levels('production', '', oci(`${release}---\n${kustomization}`))).toEqual(['violation'])
  expect(levels('production', '', oci('')), 'what nothing takes yet').toEqual(['violation'])
})
