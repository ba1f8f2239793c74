import { expect, test } from 'vitest'
import { approve } from '../../../src/verdict/approve.ts'
import { evaluationOf, type Given } from '../fleet-of.ts'
import { readFolder, sharedFleetsPresent } from '../read-folder.ts'
import { fleetFiles, fleetRepositories } from './read-fleet.ts'

/** What the worker does with each node of a cluster: `apply`, or why it holds it. */
function outcomes(
  given: Given & { readonly url: string },
  cluster: string,
  kubeConfigs: readonly { readonly cluster: string }[] = [],
): Record<string, string> {
  const { verdict, nodes } = evaluationOf(given)
  const { revisionSet } = verdict
  const binding = { cluster, fleet: given.url, branch: 'main', kubeConfigs }
  const fleet = { url: given.url, branch: 'main', commit: nodes[0]!.source.commit }
  const sources = nodes.map(({ source }) => ({ url: source.url, ref: {}, commit: source.commit }))
  const { apply, held } = approve({
    binding,
    evaluated: { revisionSet, nodes, baseline: [] },
    heads: { revisionSet, complete: true, fleet, sources },
  })
  return Object.fromEntries([
    ...apply.map(({ key }) => [key.replace(`${cluster}/`, ''), 'apply']),
    ...held.map(({ node, reason }) => [node.replace(`${cluster}/`, ''), reason]),
  ])
}

/** The example fleet: all of it is applied, on both clusters. */
test.each(['staging', 'production'])('acme/fleet on %s', cluster => {
  const { 'acme/fleet': fleet, 'acme/dev-team': dev, 'acme/ops-team': ops } = fleetRepositories
  const given = {
    url: fleet.url,
    fleet: fleetFiles('acme/fleet'),
    sources: [
      { url: dev.url, ref: { branch: 'main' }, files: fleetFiles('acme/dev-team') },
      { url: ops.url, ref: { branch: 'main' }, files: fleetFiles('acme/ops-team') },
    ],
  }
  expect(outcomes(given, cluster)).toEqual({
    'flux-system/flux-system': 'apply',
    'flux-system/infrastructure': 'apply',
    'flux-system/sandbox-limits': 'apply',
    'flux-system/tenants': 'apply',
    'apps/dev-team': 'apply',
  })
})

/** `wait: true` on its infrastructure held five of six. The sixth is not in git: it is evaluated where its registry is allowed. */
test.runIf(sharedFleetsPresent()).each(['staging', 'production'])('fluxcd/flux2-multi-tenancy on %s', cluster => {
  const url = 'https://github.com/fluxcd/flux2-multi-tenancy'
  const given = {
    url,
    fleet: readFolder('flux2-multi-tenancy/fleet'),
    sources: [{ url, ref: { branch: 'dev-team' }, files: readFolder('flux2-multi-tenancy/dev-team') }],
  }
  expect(outcomes(given, cluster)).toEqual({
    'flux-system/flux-system': 'apply',
    'flux-system/kyverno': 'apply',
    'flux-system/kyverno-policies': 'apply',
    'flux-system/tenants': 'apply',
    'apps/dev-team': 'apply',
    'flux-system/kyverno-controller': 'its source is not visible: the content of an OCIRepository is not in git',
  })
})

/** Its tenants reach the cluster through Capsule's proxy, by a kubeconfig. */
test.runIf(sharedFleetsPresent())('clastix/flux2-capsule-multi-tenancy', () => {
  const url = 'https://github.com/clastix/flux2-capsule-multi-tenancy'
  const given = {
    url,
    fleet: readFolder('flux2-capsule-multi-tenancy/fleet'),
    sources: [{ url, ref: { branch: 'dev-team' }, files: readFolder('flux2-capsule-multi-tenancy/dev-team') }],
  }
  const platform = {
    'flux-system/flux-system': 'apply',
    'flux-system/capsule': 'apply',
    'flux-system/capsule-proxy': 'apply',
    'flux-system/tenants': 'apply',
  }
  const tenants = (outcome: string) => ({
    ...platform,
    'dev-team/dev-team': outcome,
    'dev-team/namespaces': outcome,
    'dev-team/podinfo': outcome,
  })
  const unlisted =
    'spec.kubeConfig: clusters.yaml lists no API server for what is evaluated as staging. List it under kubeConfigs of staging'
  expect(outcomes(given, 'staging')).toEqual(tenants(unlisted))
  // an API server of another cluster is not what they were evaluated as
  const other = [{ cluster: 'staging -> kubeconfig dev-team/gitops-reconciler-kubeconfig/kubeconfig' }]
  expect(outcomes(given, 'staging', other)).toEqual(tenants(unlisted))
  expect(outcomes(given, 'staging', [{ cluster: 'staging' }])).toEqual(tenants('apply'))
})
