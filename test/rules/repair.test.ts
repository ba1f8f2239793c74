import { describe, expect, test } from 'vitest'
import { buildFleet } from '../../src/fleet/graph/build-fleet.ts'
import { evaluateFleet } from '../../src/verdict/evaluate-fleet.ts'
import { type Files, inputOf } from '../fleet/fleet-of.ts'
import { fleetFiles, miniFleet } from '../fleet/mini-fleet.ts'

const RIGHTS = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: everybody}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: dev-team, namespace: apps}]
`
const ROOT = 'clusters/staging/kustomization.yaml'
const SYNC = 'clusters/staging/addons.yaml'
const ADDONS = 'addons/kustomization.yaml'
const CALM = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: flux-system}\n'
const sync = (more = '') =>
  fleetFiles['clusters/staging/tenants.yaml']!.replaceAll('tenants', 'addons').replace(
    '  prune: true\n',
    `  prune: true\n${more}`,
  )

/** A platform node `addons` that applies rights for a tenant, and what is in the way of that before. */
const whole: Files = {
  [ROOT]: 'resources: [flux-system, tenants.yaml, addons.yaml]\n',
  [SYNC]: sync(),
  [ADDONS]: 'resources: [c.yaml, rights.yaml]\n',
  'addons/c.yaml': CALM,
  'addons/rights.yaml': RIGHTS,
}

/** States of the rights for a tenant after a change from these files of the fleet to the whole, or to others. */
function statesAfter(before: Files, after: Files = {}): string[] {
  const [base, head] = [
    { ...whole, ...before },
    { ...whole, ...after },
  ].map(fleet => inputOf(miniFleet({ fleet })))
  const evaluation = evaluateFleet(buildFleet({ ...head!, config: base!.fleet.tree }), {
    base: buildFleet(base!),
    revisionSet: 'c',
  })
  const { violations } = evaluation.verdict
  return violations.filter(({ object }) => object.name === 'everybody').map(({ state }) => state)
}

describe('at the repair what the build before did not contain is new', () => {
  test.for<[string, Files]>([
    ['a broken file', { 'addons/rights.yaml': 'a: [\n' }],
    ['a file that was not there, beside a broken one', { [ADDONS]: 'resources: [c.yaml, gone.yaml]\n' }],
    ['a broken kustomization', { [ADDONS]: 'resources: [\n' }],
    ['a folder that was not there', { [SYNC]: sync().replace('./addons', './gone') }],
    ['a root that did not build', { [ROOT]: 'resources: [\n' }],
    ['a broken root that did not name it', { [ROOT]: 'resources: [flux-system, tenants.yaml, gone.yaml]\n' }],
    ['a hole that is filled', { 'addons/rights.yaml': `${RIGHTS}a: !foo x\n` }],
    ['a remote file that is copied', { [ADDONS]: 'resources: [c.yaml, "https://example.com/rights.yaml"]\n' }],
    ['a base in git that is copied', { [ADDONS]: 'resources: [c.yaml, "https://github.com/acme/x?ref=main"]\n' }],
    ['a node that was not reached', { [ROOT]: 'resources: [flux-system, tenants.yaml]\n' }],
    [
      'a suspended node without it',
      { [SYNC]: sync('  suspend: true\n'), 'addons/rights.yaml': CALM.replace('c,', 'd,') },
    ],
  ])('%s', ([, before]) => {
    expect(statesAfter(before)).toEqual(['new'])
  })
})

describe('and what it contained is not blamed on the repair', () => {
  test.for<[string, Files]>([
    ['beside a broken file', { [ADDONS]: 'resources: [c.yaml, rights.yaml, gone.yaml]\n' }],
    [
      'beside a hole',
      {
        [ADDONS]:
          'resources: [c.yaml, rights.yaml]\nvars: [{name: A, objref: {apiVersion: v1, kind: ConfigMap, name: c}}]\n',
      },
    ],
    [
      'below a root that lacks another file',
      { [ROOT]: 'resources: [flux-system, tenants.yaml, addons.yaml, gone.yaml]\n' },
    ],
  ])('%s', ([, before]) => {
    expect(statesAfter(before)).toEqual(['standing'])
  })
})

describe('what was in git and not applied is new where it is applied', () => {
  const marked = (kind: 'labels' | 'annotations', mark: string) =>
    RIGHTS.replace('name: everybody', `name: everybody, ${kind}: {kustomize.toolkit.fluxcd.io/${mark}}`)
  const above = (more: string): Files => ({
    [ROOT]: 'resources: [flux-system, tenants.yaml, above.yaml]\n',
    'clusters/staging/above.yaml': sync(more).replaceAll('addons', 'above'),
    'above/addons.yaml': sync(),
    'above/kustomization.yaml': 'resources: [addons.yaml]\n',
  })
  const named = (mark: string) => sync().replace('metadata:\n', `metadata:\n  annotations: {${mark}}\n`)

  test.for<[string, Files, Files?]>([
    ['of a node that was suspended', { [SYNC]: sync('  suspend: true\n') }],
    ['below a node that was suspended', above('  suspend: true\n'), above('')],
    ['of a node that was left alone', { [SYNC]: named('kustomize.toolkit.fluxcd.io/reconcile: disabled') }],
    ['that was left alone', { 'addons/rights.yaml': marked('annotations', 'reconcile: disabled') }],
    ['that a label left alone', { 'addons/rights.yaml': marked('labels', 'ssa: Ignore') }],
  ])('%s', ([, before, after = {}]) => {
    expect(named('x: y')).not.toBe(sync())
    expect(statesAfter(before, after)).toEqual(['new'])
  })

  test.for<[string, Files, Files]>([
    ['stays suspended', { [SYNC]: sync('  suspend: true\n') }, { [SYNC]: sync('  suspend: true\n  timeout: 3m\n') }],
    ['is suspended now', {}, { [SYNC]: sync('  suspend: true\n') }],
    ['waits for another no more', { [SYNC]: sync('  dependsOn: [{name: tenants}]\n') }, {}],
    ['is below a node that is suspended now', above(''), above('  suspend: true\n')],
  ])('and stands where its node %s', ([, before, after]) => {
    expect(statesAfter(before, after)).toEqual(['standing'])
  })
})

describe('what a controller of Flux was told to do nothing about is new where it is done', () => {
  /** An object of dev-team in the namespace of another tenant. */
  const strayed = (apiVersion: string, kind: string, spec: string, annotations: string) =>
    `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: strayed, namespace: ops, annotations: {${annotations}}}\nspec: {${spec}}\n`
  const states = (base: string, head: string) => {
    const [was, now] = [base, head].map(text =>
      inputOf(
        miniFleet({
          dev: {
            'deploy/kustomization.yaml': 'resources: [web.yaml, strayed.yaml]\n',
            'deploy/strayed.yaml': text,
          },
        }),
      ),
    )
    const options = { base: buildFleet(was!), revisionSet: 'c' }
    const { violations } = evaluateFleet(buildFleet(now!), options).verdict
    return new Set(violations.filter(({ object }) => object.name === 'strayed').map(({ state }) => state))
  }
  const SUSPENDED = 'suspend: true'

  test.for([
    ['helm.toolkit.fluxcd.io/v2', 'HelmRelease', SUSPENDED, ''],
    ['infra.contrib.fluxcd.io/v1alpha2', 'Terraform', SUSPENDED, ''],
    ['gitops.kluctl.io/v1beta1', 'KluctlDeployment', SUSPENDED, ''],
    ['cue.contrib.flux.io/v1alpha1', 'CueInstance', SUSPENDED, ''],
    ['fluxcd.controlplane.io/v1', 'ResourceSet', '', 'fluxcd.controlplane.io/reconcile: disabled'],
    ['source.extensions.fluxcd.io/v1beta1', 'ArtifactGenerator', '', 'source.extensions.fluxcd.io/reconcile: Disabled'],
  ])('%s %s', ([apiVersion, kind, spec, annotations]) => {
    const stopped = strayed(apiVersion!, kind!, spec!, annotations!)
    expect(states(stopped, strayed(apiVersion!, kind!, '', ''))).toEqual(new Set(['new']))
    expect(states(stopped, stopped)).toEqual(new Set(['standing']))
  })

  test.for([
    ['batch/v1', 'Job', SUSPENDED, ''],
    ['batch/v1', 'CronJob', SUSPENDED, ''],
    ['fluxcd.controlplane.io/v1', 'ResourceSet', '', 'example.com/reconcile: disabled'],
    ['fluxcd.controlplane.io/v1', 'ResourceSet', '', 'fluxcd.controlplane.io/reconcile: enabled'],
  ])('and stands where it only looks like that: %s %s', ([apiVersion, kind, spec, annotations]) => {
    const before = strayed(apiVersion!, kind!, spec!, annotations!)
    expect(states(before, strayed(apiVersion!, kind!, '', ''))).toEqual(new Set(['standing']))
  })
})
