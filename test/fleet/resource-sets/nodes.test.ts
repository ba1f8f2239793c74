import { describe, expect, test } from 'vitest'
import { FleetSession } from '../../../src/fleet/graph/fleet-session.ts'
import { evaluationOf, fleetOf, inputOf, said } from '../fleet-of.ts'
import { DEV_URL, devFiles, miniFleet } from '../mini-fleet.ts'

const set = (spec: string, namespace = 'flux-system') =>
  `apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: teams, namespace: ${namespace}}\nspec:\n${spec}`

const fleetWith = (sets: string, more: Record<string, string> = {}, dev: Record<string, string> = {}) =>
  miniFleet({
    fleet: {
      'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, sets.yaml]\n',
      'clusters/staging/sets.yaml': sets,
      ...more,
    },
    dev,
  })

const grant = (account: string) =>
  `  - {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: more}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: [{kind: ServiceAccount, name: ${account}, namespace: apps}]}\n`

/** What makes a tenant of each set of inputs, as fleets with the Flux Operator do. */
const TENANTS = set(`  inputs: [{team: red, path: deploy}, {team: blue, path: other}]
  resources:
  - {apiVersion: v1, kind: Namespace, metadata: {name: << inputs.team >>, labels: {toolkit.fluxcd.io/tenant: << inputs.team >>}}}
  - {apiVersion: v1, kind: ServiceAccount, metadata: {name: << inputs.team >>, namespace: << inputs.team >>}}
  - apiVersion: source.toolkit.fluxcd.io/v1
    kind: GitRepository
    metadata: {name: apps, namespace: << inputs.team >>}
    spec: {interval: 1m, url: ${DEV_URL}, ref: {branch: main}}
  - apiVersion: kustomize.toolkit.fluxcd.io/v1
    kind: Kustomization
    metadata: {name: apps, namespace: << inputs.team >>}
    spec: {interval: 5m, prune: true, path: "./<< inputs.path >>", targetNamespace: << inputs.team >>, serviceAccountName: << inputs.team >>, sourceRef: {kind: GitRepository, name: apps}}
`)
const OTHER = { 'other/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: blue}\n' }

describe('what a ResourceSet of the platform makes', () => {
  test('is a node, with the account that applies it, and no Kustomization', () => {
    const given = fleetWith(
      set(
        `  serviceAccountName: maker\n  resources:\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: default}}\n`,
      ),
    )
    const fleet = fleetOf(given)
    expect(fleet.nodes.find(({ key }) => key === 'staging/flux-system/resourceset:teams')).toMatchObject({
      parent: 'staging/flux-system/flux-system',
      identity: { user: 'system:serviceaccount:flux-system:maker', impersonated: true },
      prune: true,
    })
    expect(fleet.notSeen).toEqual([])
    const { verdict } = evaluationOf(given)
    expect(verdict.evaluated.kustomizations).toEqual(evaluationOf(miniFleet()).verdict.evaluated.kustomizations)
    expect(verdict.summary).not.toContain('ResourceSet')
  })

  test('is applied by the operator where it names no account, and by nobody where that is switched off', () => {
    const spec = '  resources:\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: default}}\n'
    const node = (text: string) => fleetOf(fleetWith(text)).nodes.find(({ name }) => name === 'resourceset:teams')
    expect(node(set(spec))).toMatchObject({ identity: { impersonated: false }, suspend: false })
    const off = set(spec).replace(
      'namespace: flux-system}',
      'namespace: flux-system, annotations: {fluxcd.controlplane.io/reconcile: disabled}}',
    )
    expect(node(off)).toMatchObject({ suspend: true })
  })

  test('has its tenants, sources and Kustomizations followed, for each set of inputs', () => {
    const fleet = fleetOf(fleetWith(TENANTS, {}, OTHER))
    expect(fleet.tenants.map(({ name }) => name)).toEqual(['blue', 'dev-team', 'ops-team', 'red'])
    const made = fleet.nodes.filter(({ parent }) => parent === 'staging/flux-system/resourceset:teams')
    expect(made.map(({ key, tenant, path, identity }) => [key, tenant, path, identity.user])).toEqual([
      ['staging/red/apps', 'red', './deploy', 'system:serviceaccount:red:red'],
      ['staging/blue/apps', 'blue', './other', 'system:serviceaccount:blue:blue'],
    ])
    expect(fleet.notSeen).toEqual([])
    expect(evaluationOf(fleetWith(TENANTS, {}, OTHER)).verdict.errors).toEqual([])
  })

  test('is evaluated: a tenant that it makes may not leave its namespace', () => {
    const away = { 'other/a.yaml': OTHER['other/a.yaml'].replace('blue', 'ops') }
    const given = fleetWith(TENANTS.replace('targetNamespace: << inputs.team >>, ', ''), {}, { ...devFiles, ...away })
    expect(said(evaluationOf(given))).toContain('namespace-confinement other/a.yaml:3')
  })

  test('gives rights that count: more of them for a tenant are a violation', () => {
    const given = (account: string) => fleetWith(set(`  resources:\n${grant(account)}`))
    const rules = (account: string) => evaluationOf(given(account)).verdict.violations.map(({ rule }) => rule)
    expect(rules('dev-team')).not.toEqual([])
    expect(rules('nobody-of-tenants')).toEqual(rules('somebody-else'))
    const templated = given("'<< inputs.who >>'")
    const spec = templated.fleet!['clusters/staging/sets.yaml']!.replace(
      'spec:\n',
      'spec:\n  inputs: [{who: dev-team}]\n',
    )
    expect(evaluationOf(fleetWith(spec)).verdict.violations.map(({ rule }) => rule)).toEqual(rules('dev-team'))
  })

  test('is listed as far as it is not rendered, and only so far', () => {
    const partly = `${TENANTS}  - {apiVersion: v1, kind: ConfigMap, metadata: {name: '<< slugify inputs.team >>', namespace: default}}\n`
    const fleet = fleetOf(fleetWith(partly, {}, OTHER))
    expect(fleet.notSeen).toEqual([
      {
        source: 'ResourceSet/flux-system/teams',
        url: '',
        reason: '1 part of it is not evaluated (spec.resources[4]: it uses template functions other than input fields)',
        what: 'objects',
      },
    ])
    expect(fleet.tenants).toHaveLength(4)
  })

  test('may be another ResourceSet, so deep and no deeper', () => {
    const nested = (depth: number): string =>
      depth === 0
        ? '{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: default}}'
        : `{apiVersion: fluxcd.controlplane.io/v1, kind: ResourceSet, metadata: {name: s${depth}, namespace: flux-system}, spec: {resources: [${nested(depth - 1)}]}}`
    const fleet = fleetOf(fleetWith(set(`  resources:\n  - ${nested(6)}\n`)))
    expect(fleet.nodes.filter(({ name }) => name.startsWith('resourceset:'))).toHaveLength(4)
    expect(fleet.notSeen).toMatchObject([{ source: 'ResourceSet/flux-system/s3', what: 'objects' }])
  })

  test('with copied data gives unknown values, not none', () => {
    const copied = TENANTS.replace(
      '  - apiVersion: source',
      '  - {apiVersion: v1, kind: ConfigMap, metadata: {name: vars, namespace: << inputs.team >>, annotations: {fluxcd.controlplane.io/copyFrom: flux-system/vars}}}\n  - apiVersion: source',
    ).replace('prune: true, path', 'postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}, prune: true, path')
    const value = { 'other/a.yaml': `${OTHER['other/a.yaml']}data: {v: "\${stage}"}\n` }
    const fleet = fleetOf(fleetWith(copied, {}, value))
    const blue = fleet.nodes.find(({ key }) => key === 'staging/blue/apps')!
    expect([blue.error, blue.objects.length]).toEqual([undefined, 1])
    expect(fleet.notSeen[0]!.reason).toContain('the cluster fills its data (copyFrom)')
  })

  test('with copied data lacks no key of it, but one that nothing copies does', () => {
    const secret = (kind: string) =>
      `{apiVersion: v1, kind: Secret, type: ${kind}, metadata: {name: x, namespace: default, annotations: {fluxcd.controlplane.io/copyFrom: flux-system/x}}}`
    const types = [
      'kubernetes.io/dockerconfigjson',
      'kubernetes.io/tls',
      'kubernetes.io/basic-auth',
      'kubernetes.io/ssh-auth',
    ]
    for (const type of types) {
      const schema = (text: string) =>
        evaluationOf(fleetWith(text)).verdict.violations.filter(({ rule }) => rule === 'schema-mismatch').length
      expect([type, schema(set(`  resources:\n  - ${secret(type)}\n`))]).toEqual([type, 0])
      expect([type, schema(secret(type)) > 0]).toEqual([type, true])
    }
  })

  test('is never what our own worker applies', () => {
    const { nodes } = evaluationOf(fleetWith(TENANTS, {}, OTHER))
    expect(nodes.find(({ name }) => name === 'resourceset:teams')!.refused).toContain('spec.resources')
  })
})

describe('ResourceSets that are not rendered', () => {
  test('those of tenants are objects in objects, as before', () => {
    const own = set(
      '  serviceAccountName: dev-team\n  resources:\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: ops}}\n',
      'apps',
    )
    const given = miniFleet({ dev: { 'deploy/web.yaml': own } })
    expect(fleetOf(given).nodes.some(({ name }) => name.startsWith('resourceset:'))).toBe(false)
    expect(fleetOf(given).notSeen).toMatchObject([{ source: 'ResourceSet/apps/teams', what: 'objects' }])
    expect(said(evaluationOf(given)).some(one => one.startsWith('namespace-confinement'))).toBe(true)
  })
})

describe('a session', () => {
  test('says the same of ResourceSets as a new start', () => {
    const states = [
      fleetWith(TENANTS, {}, OTHER),
      fleetWith(TENANTS, { 'README.md': 'x' }, OTHER),
      fleetWith(TENANTS.replace('{team: red, path: deploy}, ', ''), { 'README.md': 'x' }, OTHER),
      fleetWith(TENANTS, {}, OTHER),
    ]
    const session = new FleetSession()
    for (const given of states) {
      const plain = ({ nodes, tenants, notSeen }: ReturnType<typeof fleetOf>) =>
        [nodes.map(({ key, digest, source }) => [key, digest, source.commit]), tenants, notSeen] as const
      expect(plain(session.build(inputOf(given)))).toEqual(plain(fleetOf(given)))
    }
  })
})
