import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Json, toJson } from '../../../src/kube/node.ts'
import { displayRbac } from '../../../src/kube/rbac/binding.ts'
import { type ResourceRequest, ruleAllows, userInfo } from '../../../src/kube/rbac/policy-rule.ts'
import type { TestCluster } from '../../../tools/envtest/start.ts'
import { inParallel, pathOf, review, startWithAggregation, whyNoCluster } from '../../base/kube/rbac/live-cluster.ts'
import { capsuleMakes, recipeIndex } from './recipe-fleet.ts'

const NAMESPACES = ['oil-system', 'oil-dev', 'gas-system', 'gas-dev']
const ACCOUNTS = NAMESPACES.map(name => `system:serviceaccount:${name}:gitops-reconciler`)
const USERS = [
  ...ACCOUNTS,
  'system:serviceaccount:oil-system:default',
  'system:serviceaccount:flux-system:kustomize-controller',
]

const on = (apiGroup: string, resource: string, ...verbs: readonly string[]) =>
  verbs.map(verb => ({ apiGroup, resource, verb }))
const REQUESTS: readonly ResourceRequest[] = [
  ...on('', 'namespaces', 'create', 'patch', 'get', 'list', 'delete'),
  ...ACCOUNTS.flatMap(name => on('', 'users', 'impersonate').map(one => ({ ...one, name }))),
  ...NAMESPACES.flatMap(namespace => [
    ...on('', 'namespaces', 'delete', 'patch').map(one => ({ ...one, namespace, name: namespace })),
    ...[
      ...on('apps', 'deployments', 'patch', 'create', 'get'),
      ...on('kustomize.toolkit.fluxcd.io', 'kustomizations', 'patch', 'create'),
      ...on('', 'secrets', 'get', 'list'),
      ...on('', 'serviceaccounts', 'impersonate'),
      ...on('rbac.authorization.k8s.io', 'rolebindings', 'patch'),
      ...on('', 'resourcequotas', 'patch'),
    ].map(one => ({ ...one, namespace, name: 'a' })),
  ]),
]

describe.skipIf(whyNoCluster() !== undefined)('the bindings of Capsule and its addon on a real API server', () => {
  let server: TestCluster
  beforeAll(async () => {
    server = await startWithAggregation(NAMESPACES)
  }, 120_000)
  afterEach(() => clear(server))
  afterAll(() => server?.stop())

  test.each(['v0.1.3', 'v0.12.4', 'v0.14.0'])(
    'every account may do with Capsule %s what is answered, and through the same binding',
    async version => {
      const index = recipeIndex(version)
      const kinds = ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding']
      const written = kinds.flatMap(kind => index.renderedAnywhere('staging', `rbac.authorization.k8s.io/${kind}`))
      const objects = [...written.map(({ object }) => object), ...index.assumedRbac('staging')].map(({ root }) =>
        toJson(root),
      )
      for (const object of [...objects, ...capsuleMakes(version)]) await create(server, object)
      await seen(server)
      const asked = USERS.flatMap(user => REQUESTS.map(request => ({ user: userInfo(user), request })))
      const answers = await inParallel(asked, ({ user, request }) => review(server, user, request))
      const different = asked.flatMap(({ user, request }, at) => {
        const ours = index.authorizer('staging').held(user, request.namespace ?? '').grants
        const by = ours.filter(({ rule }) => ruleAllows(rule, request)).map(one => displayRbac(one.binding))
        const { allowed, reason = '' } = answers[at]!
        const [, kind, name = ''] = /by (\w+) "([^"]+)"/.exec(reason) ?? []
        // it writes the name of a RoleBinding before its namespace
        const theirs = `${kind} ${name.split('/').toReversed().join('/')}`
        const isSame = allowed ? by.includes(theirs) : by.length === 0
        return isSame ? [] : [{ user: user.name, request, reason, by }]
      })
      expect(different).toEqual([])
      expect(answers.filter(({ allowed }) => allowed).length).toBeGreaterThan(100)
    },
    120_000,
  )
})

async function create(server: TestCluster, object: Json): Promise<void> {
  const { status, body } = await server.request('POST', pathOf(object), object)
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
}

/** Until the authorizer, which watches, knows the last binding and the aggregated roles. */
async function seen(server: TestCluster): Promise<void> {
  const user = userInfo('system:serviceaccount:gas-system:gitops-reconciler')
  const last = { verb: 'impersonate', apiGroup: '', resource: 'users', name: user.name }
  const edit = {
    verb: 'patch',
    apiGroup: 'kustomize.toolkit.fluxcd.io',
    resource: 'kustomizations',
    namespace: 'oil-dev',
  }
  for (const request of [last, edit]) {
    await expect
      .poll(async () => (await review(server, request === last ? user : OIL, request)).allowed, { timeout: 15_000 })
      .toBe(true)
  }
}

const OIL = userInfo('system:serviceaccount:oil-system:gitops-reconciler')

async function clear(server: TestCluster): Promise<void> {
  const added = 'labelSelector=kubernetes.io/bootstrapping!=rbac-defaults'
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const inside = NAMESPACES.map(name => `namespaces/${name}/rolebindings`)
  for (const path of ['clusterrolebindings', 'clusterroles', ...inside]) {
    await server.request('DELETE', `${rbac}/${path}?${added}`)
  }
}
