import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run, scratch, write } from './run-main.ts'

const ACME = join(import.meta.dirname, '../../fleet/fleets/acme')
const SHARED = join(import.meta.dirname, '../../../../shared/fleets')
const ADDRESS = 'https://github.com/acme/'
const FLEET = [...['fleet', '--url', `${ADDRESS}fleet`], ...['--repo', `${ADDRESS}dev-team=${ACME}/dev-team`]]

const canI = (...args: string[]) => run(ACME, 'can-i', ...args, ...FLEET)

test('a tenant may write its own namespace, and is told through what', async () => {
  const { code, stdout, stderr } = await canI('patch', 'deploy/web', '-n', 'apps', '--as', 'apps/dev-team')
  expect([code, stderr]).toEqual([0, ''])
  const [first, rule] = stdout.split('\n')
  expect(first).toMatch(
    /^yes, on production: RoleBinding apps\/dev-team-reconciler gives ClusterRole cluster-admin to ServiceAccount apps\/dev-team \(tenants\/base\/dev-team\/rbac\.yaml:\d+\)$/,
  )
  expect(rule).toBe('  by the rule {APIGroups:["*"], Resources:["*"], Verbs:["*"]}')
  expect(stdout).toContain('yes, on staging: ')
})

test.each(['system:serviceaccount:apps:dev-team', 'apps/dev-team', 'apps:dev-team'])(
  'in another namespace %s is refused in the words of the API server',
  async identity => {
    const { code, stdout } = await canI(
      'patch',
      'configmaps/a',
      '-n',
      'sandbox',
      '--as',
      identity,
      '--cluster',
      'staging',
    )
    expect([code, stdout]).toEqual([
      1,
      'no, on staging: configmaps "a" is forbidden: User "system:serviceaccount:apps:dev-team" cannot patch resource "configmaps" in API group "" in the namespace "sandbox"\n',
    ])
  },
)

test.each([
  [['get', 'widgets'], 'apps', { apiGroup: 'example.acme.dev', resource: 'widgets', namespace: 'apps' }],
  [['get', 'Widget'], 'apps', { apiGroup: 'example.acme.dev', resource: 'widgets' }],
  [['get', 'po', '--subresource', 'log'], 'apps', { apiGroup: '', resource: 'pods', subresource: 'log' }],
  [['get', 'deployments.v1.apps/web'], 'apps', { apiGroup: 'apps', resource: 'deployments', name: 'web' }],
  [['get', 'nodes'], 'apps', { apiGroup: '', resource: 'nodes', namespace: '' }],
  [['patch', 'namespaces/apps'], '', { resource: 'namespaces', namespace: 'apps', name: 'apps' }],
  [['create', 'namespaces/apps'], '', { resource: 'namespaces', namespace: '', name: 'apps' }],
  [['get', 'ks'], 'apps', { apiGroup: 'kustomize.toolkit.fluxcd.io', resource: 'kustomizations' }],
])('%j is understood as kubectl does', async (words, namespace, request) => {
  const { stdout } = await canI(...words, ...(namespace ? ['-n', namespace] : []), '--as', 'alice', '-o', 'json')
  expect(JSON.parse(stdout).request).toMatchObject(request)
})

test('json says who was asked for, and each cluster its answer', async () => {
  const { code, stdout } = await canI('get', 'secrets', '-n', 'apps', '--as', 'gotk:apps:reconciler', '-o', 'json')
  const answer = JSON.parse(stdout)
  expect(code).toBe(0)
  expect(answer).toMatchObject({ answer: 'yes', user: 'gotk:apps:reconciler', groups: ['system:authenticated'] })
  expect(answer.clusters).toHaveLength(2)
  expect(answer.clusters[0]).toMatchObject({
    cluster: 'production',
    answer: 'yes',
    allowedBy: {
      subject: 'User gotk:apps:reconciler',
      binding: 'RoleBinding apps/dev-team-reconciler',
      role: 'ClusterRole cluster-admin',
      clusterWide: false,
      from: {
        by: 'fleet',
        kustomization: 'production/flux-system/tenants',
        origin: { file: 'tenants/base/dev-team/rbac.yaml' },
      },
    },
  })
})

test('a bare name is a user, and who may have meant the account is told', async () => {
  const { code, stderr } = await canI('get', 'pods', '-n', 'apps', '--as', 'dev-team')
  expect([code, stderr]).toEqual([1, 'note: dev-team is taken for a user; the account is apps/dev-team\n'])
})

test('groups count, and paths are asked for', async () => {
  expect((await canI('get', 'secrets', '--as', 'alice')).code).toBe(1)
  expect((await canI('get', 'secrets', '--as', 'alice', '--as-group', 'a', '--as-group', 'system:masters')).code).toBe(
    0,
  )
  expect((await canI('get', '/healthz', '--as', 'alice')).code).toBe(0)
  const { code, stdout } = await canI('get', '/metrics', '--as', 'alice', '--cluster', 'staging')
  expect([code, stdout]).toEqual([1, 'no, on staging: forbidden: User "alice" cannot get path "/metrics"\n'])
})

test('wrong use is refused with what to write', async () => {
  const wrong = async (...args: string[]) => {
    const { code, stderr, stdout } = await canI(...args)
    expect([code, stdout]).toEqual([2, ''])
    return stderr
  }
  const alone = await run(ACME, 'can-i', 'get', '--as', 'a')
  expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('RESOURCE[/NAME] is missing')])
  expect(await wrong('get', 'pods')).toContain('--as is missing')
  expect(await wrong('get', 'podz', '--as', 'a')).toContain('neither Kubernetes nor the fleet has a resource "podz"')
  expect(await wrong('get', 'gateways', '--as', 'a')).toContain(
    'is ambiguous. Kinds with this name: gateways.gateway.networking.k8s.io, ',
  )
  expect(await wrong('get', 'pods/a/b', '--as', 'a')).toContain('A subresource is --subresource NAME')
  expect(await wrong('get', 'pods', '--as', 'system:serviceaccount:a')).toContain('is not an account')
  expect(await wrong('get', 'pods', '--as', 'a', '--cluster', 'x')).toContain('there are: production, staging')
  expect(await wrong('get', '/healthz', '-n', 'apps', '--as', 'a')).toContain('a path has neither namespace')
  expect((await canI('get', 'widgets.example.org', '--as', 'a')).stderr).toBe(
    'note: widgets.example.org is not known; it is asked for as it stands\n',
  )
})

const CLUSTER = `
apiVersion: v1
kind: Namespace
metadata: { name: apps }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: by-chart, namespace: apps }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: of-a-chart }
subjects: [{ kind: User, name: alice, apiGroup: rbac.authorization.k8s.io }, { kind: User, name: 'apps:eve', apiGroup: rbac.authorization.k8s.io }]
`

test('a role that nobody renders is said, not guessed', async () => {
  const dir = write(scratch(), {
    'clusters/one/all.yaml': CLUSTER,
    'clusters/one/kustomization.yaml': 'resources: [all.yaml]',
  })
  const { code, stdout } = await run(dir, 'can-i', 'get', 'pods', '-n', 'apps', '--as', 'alice')
  expect(code).toBe(2)
  expect(stdout).toMatch(
    /^unknown, on one: pods is forbidden: .*not found\n {2}not known: RoleBinding apps\/by-chart refers to/,
  )
  expect((await run(dir, 'can-i', 'get', 'pods', '-n', 'apps', '--as', 'bob')).code).toBe(1)
  const both = await run(dir, 'can-i', 'get', 'pods', '-n', 'apps', '--as', 'apps:eve')
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('Write apps/eve for the account')])
})

test('the shared reference fleet: a source that is not in git is told beside the no', async ({ skip }) => {
  const dir = join(SHARED, 'flux2-multi-tenancy')
  if (!existsSync(dir)) return skip('../shared/fleets is missing')
  const url = 'https://github.com/fluxcd/flux2-multi-tenancy'
  const fleet = ['fleet', '--url', url, '--repo', `${url}#dev-team=${dir}/dev-team`]
  const no = await run(dir, 'can-i', 'create', 'ns/x', '--as', 'apps:dev-team', '--cluster', 'staging', ...fleet)
  expect([no.code, no.stdout]).toEqual([
    1,
    expect.stringContaining('may be incomplete: Kustomization flux-system/kyverno-controller'),
  ])
  const flux = await run(dir, 'can-i', 'create', 'ns/x', '--as', 'flux-system/kustomize-controller', ...fleet)
  expect([flux.code, flux.stdout]).toEqual([0, expect.stringContaining("of Flux's own manifests")])
})
