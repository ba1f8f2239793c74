import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Json, stringAt, toJson } from '../../../src/kube/node.ts'
import { display, idOf } from '../../../src/kube/object.ts'
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

  test('refuses of each object of a tenant what is answered, word by word', async () => {
    const index = recipeIndex('v0.12.4', undefined, CONTENT)
    const kinds = ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding']
    const written = kinds.flatMap(kind => index.platformAnywhere('staging', `rbac.authorization.k8s.io/${kind}`))
    const objects = [...written.map(({ object }) => object), ...index.assumedRbac('staging')].map(({ root }) =>
      toJson(root),
    )
    for (const object of [...objects, ...capsuleMakes('v0.12.4')]) await create(server, object)
    await seen(server)
    const node = 'staging/oil-system/oil'
    const refused = Map.groupBy(index.refusals(node), ({ object }) => display(idOf(object)))
    const asked = index.objectsOf(node).filter(({ root }) => stringAt(root, ['metadata', 'name']) !== 'web')
    const answers = await inParallel(asked, object => applied(server, toJson(object.root) as unknown as Plain))
    const ours = asked.map(object => refused.get(display(idOf(object)))?.[0]?.message)
    expect(answers).toEqual(ours)
    expect([ours.filter(one => one !== undefined).length, ours.length]).toEqual([9, 17])
  }, 120_000)
})

interface Plain {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

/** The words of the API server where oil's account may not apply an object as Flux does: it reads it first. */
async function applied(server: TestCluster, object: Plain): Promise<string | undefined> {
  const { apiVersion, kind, metadata } = object
  const api = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  const inside = metadata.namespace ? `/namespaces/${metadata.namespace}` : ''
  const path = `${api}${inside}/${kind.toLowerCase()}s/${metadata.name}`
  const options = { impersonate: OIL.name, groups: OIL.groups }
  const read = await server.request('GET', path, undefined, options)
  const apply = () =>
    server.request(
      'PATCH',
      `${path}?fieldManager=kustomize-controller&force=true&dryRun=All`,
      object as unknown as Json,
      {
        ...options,
        contentType: 'application/apply-patch+yaml',
      },
    )
  const { status, body } = read.status === 403 ? read : await apply()
  if (status < 300) return undefined
  if (status !== 403) throw new Error(`${kind} ${metadata.name}: ${status} ${JSON.stringify(body)}`)
  return (body as { message: string }).message
}

const BINDING = 'apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding'
const given = (namespace: string, role: string) => `---
${BINDING}
metadata: {name: given, namespace: ${namespace}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ${role}}
subjects: [{kind: User, name: alice}]
`
const manifest = (kind: string, namespace: string, more = '') => `---
apiVersion: v1
kind: ${kind}
metadata: {name: b, namespace: ${namespace}}
${more}`

/** Objects of oil in its own namespaces, in those of others, and without one. */
const CONTENT = [
  ...['oil-dev', 'oil-system', 'gas-dev', 'gas-system', 'kube-system'].flatMap(namespace => [
    manifest('ConfigMap', namespace),
    manifest('ServiceAccount', namespace),
  ]),
  manifest('ResourceQuota', 'oil-dev', 'spec: {hard: {pods: "1"}}\n'),
  given('oil-dev', 'cluster-admin'),
  given('oil-system', 'view'),
  given('gas-dev', 'view'),
  '---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: mine}\nrules: []\n',
  '---\napiVersion: v1\nkind: Namespace\nmetadata: {name: gas-dev, labels: {a: b}}\n',
].join('')

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
