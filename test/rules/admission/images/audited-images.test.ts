import { expect, test } from 'vitest'
import { auditFleet } from '../../../../src/verdict/audit/audit-fleet.ts'
import { fleetOf } from '../../../fleet/fleet-of.ts'
import { DEPLOYMENT, miniFleet } from '../../../fleet/mini-fleet.ts'

const audited = (check: string, platform: string, dev = DEPLOYMENT) => {
  const fleet = fleetOf(
    miniFleet({
      fleet: {
        'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, more.yaml]\n',
        'tenants/more.yaml': platform,
      },
      dev: { 'deploy/kustomization.yaml': 'resources: [web.yaml]\n', 'deploy/web.yaml': dev },
    }),
  )
  return auditFleet(fleet, ['staging'])[0]!.items.flatMap(one =>
    one.check === check ? [`${one.state} ${one.subject}: ${one.message} ${one.origin?.file ?? ''}`] : [],
  )
}

const policy = (action: string, references: string) => `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: signed}
spec:
  validationFailureAction: ${action}
  rules:
    - name: a
      match: {any: [{resources: {kinds: [Pod]}}]}
      verifyImages:
        - imageReferences: ${references}
          skipImageReferences: ["docker.io/redis*"]
          attestors: [{entries: [{keys: {publicKeys: x}}]}]
`
const NOTHING = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: flux-system}\n'

test('a fleet without a policy that verifies images', () => {
  expect(audited('image-verification', NOTHING)).toEqual([
    expect.stringContaining(
      'unknown : no policy of the fleet verifies the signatures of images: 3 images run without one',
    ),
  ])
})

test('images by tenant: covered, not covered, skipped, and of charts', () => {
  const release = `${DEPLOYMENT}---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: cache, namespace: apps}
spec: {interval: 5m, chart: {spec: {chart: redis, sourceRef: {kind: HelmRepository, name: x}}}}
---
${DEPLOYMENT.replace('name: web', 'name: cache').replace('image: nginx', 'image: redis')}---
${DEPLOYMENT.replace('name: web', 'name: own').replace('image: nginx', 'image: quay.io/x/y')}`
  expect(audited('image-verification', policy('Enforce', '["docker.io/*"]'), release)).toEqual([
    expect.stringMatching(
      /^weak : 2 of 2 images of the platform are not covered .*imageReferences does not match\): "ghcr.io\/fluxcd/,
    ),
    expect.stringMatching(
      /^weak dev-team: 1 of 3 images of tenant "dev-team" is not covered .*skipImageReferences matches\): "redis" deploy/,
    ),
    expect.stringMatching(/^weak dev-team: 1 of 3 images .*imageReferences does not match\): "quay.io\/x\/y" deploy/),
    expect.stringMatching(/^ok dev-team: 1 of 3 images of tenant "dev-team" is covered by ClusterPolicy "signed"/),
    expect.stringContaining('unknown dev-team: the images of 1 HelmRelease of tenant "dev-team" are not visible'),
  ])
})

test('a policy in Audit', () => {
  const [, dev] = audited('image-verification', policy('Audit', '["docker.io/*"]'))
  expect(dev).toMatch(
    /^weak dev-team: 1 of 1 image of tenant "dev-team" is verified only in Audit, by ClusterPolicy "signed": "nginx"/,
  )
})

test('sources: without verification, of any identity, with keys that are not rendered', () => {
  const source = (name: string, spec: string, kind = 'OCIRepository') => `apiVersion: source.toolkit.fluxcd.io/v1
kind: ${kind}
metadata: {name: ${name}, namespace: apps}
spec: {interval: 5m, url: "oci://ghcr.io/acme/${name}"${spec}}
---
`
  const all =
    source('any', ', verify: {provider: cosign}') +
    source('named', ', verify: {provider: cosign, matchOIDCIdentity: [{issuer: a, subject: b}]}') +
    source('keys', ', verify: {provider: cosign, secretRef: {name: keys}}') +
    source('git', ', verify: {mode: HEAD}', 'GitRepository').replace('oci://ghcr.io', 'https://github.com') +
    source('empty', ', verify: {}')
  const found = audited('source-verification', NOTHING, all)
  expect(found.slice(1, -1)).toEqual([
    expect.stringMatching(
      /^weak dev-team: 2 of 6 sources of tenant "dev-team" have no verification: GitRepository "apps\/dev-team", OCIRepository "apps\/empty"/,
    ),
    expect.stringMatching(/^unknown dev-team: GitRepository "apps\/git" .* names no Secret with the trusted keys/),
    expect.stringMatching(
      /^weak dev-team: OCIRepository "apps\/any" .* a signature of any identity is accepted deploy\/web.yaml/,
    ),
    expect.stringMatching(
      /^unknown dev-team: OCIRepository "apps\/keys" .* Secret "apps\/keys", which the fleet does not render/,
    ),
    expect.stringMatching(
      /^ok dev-team: Flux verifies 1 of 6 sources of tenant "dev-team": OCIRepository "apps\/named"/,
    ),
  ])
})

test('images of custom kinds are not evaluated, and the audit says so', () => {
  const own = `${DEPLOYMENT}---
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: shop, namespace: apps}
spec: {template: {spec: {containers: [{name: a, image: quay.io/x/shop}]}}}
`
  const found = audited('image-verification', policy('Enforce', '["docker.io/*"]'), own)
  expect(found.filter(one => one.includes('custom kinds'))).toEqual([
    'unknown dev-team: the images of 1 object of tenant "dev-team" are not evaluated, because they are of custom kinds: Rollout "apps/shop" ',
  ])
})
