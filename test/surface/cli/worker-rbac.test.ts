import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { jsonAt } from '../../../src/cluster/json.ts'
import { buildFleet } from '../../../src/fleet/graph/build-fleet.ts'
import type { Json } from '../../../src/kube/node.ts'
import { workerRbac } from '../../../src/verdict/audit/worker-rbac.ts'
import { startCluster, type TestCluster } from '../../../tools/envtest/start.ts'
import { haveAssets } from '../../cluster/cluster-under-test.ts'
import { inputOf } from '../../fleet/fleet-of.ts'
import { miniFleet } from '../../fleet/mini-fleet.ts'
import { run } from './run-main.ts'

const ACME = join(import.meta.dirname, '../../fleet/fleets/acme')
const FLEET = [
  'fleet',
  '--url',
  'https://github.com/acme/fleet',
  '--repo',
  `https://github.com/acme/dev-team=${ACME}/dev-team`,
]
const WORKER = 'system:serviceaccount:bailiwick-system:bailiwick'

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules?: readonly {
    readonly apiGroups: readonly string[]
    readonly resources: readonly string[]
    readonly verbs: readonly string[]
    readonly resourceNames?: string[]
  }[]
}

const documents = (text: string) => parseAllDocuments(text).map(document => document.toJS() as Manifest)

async function printed(): Promise<Manifest[]> {
  const { code, stdout, stderr } = await run(ACME, 'worker-rbac', ...FLEET, '--cluster', 'staging')
  expect(code).toBe(0)
  expect(stderr).toContain('acts as kustomize-controller, which is cluster-admin as Flux installs it')
  return documents(stdout)
}

const impersonated = (manifests: readonly Manifest[]) =>
  manifests.flatMap(({ metadata, rules = [] }) =>
    rules
      .filter(({ verbs }) => verbs.includes('impersonate'))
      .map(({ resources, resourceNames }) => `${metadata.namespace ?? '*'} ${resources} ${resourceNames ?? '*'}`),
  )

test('the worker may act as the accounts that the cluster names, each by name, and as nobody else', async () => {
  expect(impersonated(await printed())).toEqual([
    'apps serviceaccounts dev-team',
    'flux-system serviceaccounts kustomize-controller',
  ])
})

test('everything else is what deploy/worker-rbac.yaml gives, no more', async () => {
  const all = documents(readFileSync(join(import.meta.dirname, '../../../deploy/worker-rbac.yaml'), 'utf8'))
  const rights = (manifests: readonly Manifest[]) =>
    new Set(
      manifests.flatMap(({ rules = [] }) =>
        rules.flatMap(({ resources, verbs }) => resources.flatMap(one => verbs.map(verb => `${verb} ${one}`))),
      ),
    )
  const isDrift = ({ metadata }: Manifest) => metadata.name === 'bailiwick-drift'
  const [given, documented] = [await printed(), all].map(manifests => rights(manifests.filter(one => !isDrift(one))))
  expect([...given!].sort()).toEqual([...documented!].sort())
})

test('drift is watched of the kinds that the cluster gets, and never of Secrets', async () => {
  const drift = (await printed()).find(
    ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'bailiwick-drift',
  )
  const watched = drift!.rules!.map(({ apiGroups, resources, verbs }) => `${apiGroups}: ${resources} ${verbs}`)
  expect(watched).toEqual([
    ': configmaps,limitranges,namespaces,resourcequotas,serviceaccounts,services list,watch',
    'apiextensions.k8s.io: customresourcedefinitions list,watch',
    'apps: deployments list,watch',
    'example.acme.dev: widgets list,watch',
    'kustomize.toolkit.fluxcd.io: kustomizations list,watch',
    'rbac.authorization.k8s.io: clusterrolebindings,rolebindings list,watch',
    'source.toolkit.fluxcd.io: gitrepositories list,watch',
  ])
})

test('what deploy/worker gives is part of what is printed, to the letter', async () => {
  const result = await run(join(import.meta.dirname, '../../..'), 'render', 'deploy/worker')
  const deployed = documents(result.stdout).filter(({ kind }) => /^(?:Namespace|ServiceAccount|.*Role.*)$/.test(kind))
  expect(deployed).toHaveLength(6)
  for (const one of deployed) expect(await printed()).toContainEqual(one)
})

test('a kubeConfig of the platform is read as its account, or else by name as the worker', () => {
  const kustomization = (name: string, more: string) => `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ${name}, namespace: flux-system}
spec: {interval: 1h, path: ./apps, prune: true, ${more}, sourceRef: {kind: GitRepository, name: flux-system}}
`
  const given = miniFleet({
    fleet: {
      // with a default account, that one is impersonated
      'clusters/staging/flux-system/kustomization.yaml': 'resources: [gotk-components.yaml, gotk-sync.yaml]\n',
      'clusters/staging/kustomization.yaml': 'resources: [flux-system, edge.yaml]\n',
      'clusters/staging/edge.yaml': [
        kustomization('edge', 'kubeConfig: {secretRef: {name: edge}}'),
        kustomization('edge-2', 'kubeConfig: {secretRef: {name: edge, key: kubeconfig}}'),
        kustomization('as', 'serviceAccountName: edge, kubeConfig: {secretRef: {name: other}}'),
        kustomization('cloud', 'kubeConfig: {configMapRef: {name: cloud}}'),
      ].join(''),
    },
  })
  const { manifests, left } = workerRbac(buildFleet(inputOf(given)), 'staging')
  const role = (manifests as unknown as Manifest[]).find(
    ({ kind, metadata }) => kind === 'Role' && metadata.namespace === 'flux-system',
  )
  expect(role?.rules?.filter(({ resources }) => resources.includes('secrets'))).toEqual([
    { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['edge'] },
  ])
  expect(impersonated([role!])).toContain('flux-system serviceaccounts edge')
  expect(left).toContain('staging/flux-system/cloud: it impersonates no account')
})

test('bad use is said', async () => {
  expect(await run(ACME, 'worker-rbac', ...FLEET)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--cluster is missing'),
  })
  expect(await run(ACME, 'worker-rbac', ...FLEET, '--cluster', 'moon')).toMatchObject({ code: 2 })
})

describe.skipIf(!haveAssets())('on a real API server', () => {
  let cluster: TestCluster
  beforeAll(async () => {
    cluster = await startCluster()
    for (const namespace of ['apps', 'flux-system'])
      await create('/api/v1/namespaces', { metadata: { name: namespace } })
    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    await cluster.request('DELETE', `${rbac}/clusterrolebindings/bailiwick-worker`)
    await cluster.request('DELETE', `${rbac}/clusterroles/bailiwick-worker`)
    await cluster.request('DELETE', `${rbac}/clusterrolebindings/bailiwick-drift`)
    await cluster.request('DELETE', `${rbac}/clusterroles/bailiwick-drift`)
    for (const { kind, metadata, ...rest } of await printed()) {
      const isThere = ['Namespace', 'ServiceAccount'].includes(kind) || metadata.name === 'bailiwick-inventories'
      const within = metadata.namespace ? `/namespaces/${metadata.namespace}` : ''
      if (!isThere)
        await create(`${rbac}${within}/${kind.toLowerCase()}s`, { kind, metadata, ...rest } as unknown as Json)
    }
  }, 60_000)
  afterAll(() => cluster?.stop())

  async function create(path: string, body: Json): Promise<void> {
    const answer = await cluster.request('POST', path, body)
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  }

  async function may(verb: string, group: string, resource: string, namespace: string, name: string): Promise<boolean> {
    const resourceAttributes = { verb, group, resource, namespace, name }
    const { body } = await cluster.request('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      spec: { user: WORKER, resourceAttributes },
    })
    return jsonAt(body, 'status', 'allowed') === true
  }

  test('the manifests are accepted, and give what they say', async () => {
    expect(await may('impersonate', '', 'serviceaccounts', 'apps', 'dev-team')).toBe(true)
    expect(await may('impersonate', '', 'serviceaccounts', 'flux-system', 'kustomize-controller')).toBe(true)
    expect(await may('patch', 'kustomize.toolkit.fluxcd.io', 'kustomizations', 'apps', 'dev-team')).toBe(true)
    expect(await may('list', 'kustomize.toolkit.fluxcd.io', 'kustomizations', '', '')).toBe(true)
  })

  test.each([
    ['impersonate', '', 'serviceaccounts', 'apps', 'default'],
    ['impersonate', '', 'serviceaccounts', 'kube-system', 'default'],
    ['impersonate', '', 'serviceaccounts', 'bailiwick-system', 'bailiwick'],
    ['impersonate', '', 'users', '', 'admin'],
    ['impersonate', '', 'groups', '', 'system:masters'],
    ['get', '', 'secrets', 'apps', 'x'],
    ['patch', 'kustomize.toolkit.fluxcd.io', 'kustomizations', 'other', 'x'],
    ['get', '', 'configmaps', 'apps', 'x'],
    ['create', 'rbac.authorization.k8s.io', 'rolebindings', 'apps', ''],
  ])('never %s %s/%s in %s: %s', async (verb, group, resource, namespace, name) => {
    expect(await may(verb, group, resource, namespace, name)).toBe(false)
  })
})
