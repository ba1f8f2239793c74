import { expect, test } from 'vitest'
import type { Tenant } from '../../src/fleet/model/fleet.ts'
import { evaluationOf, type Files, fleetOf, said } from './fleet-of.ts'
import { FLEET_URL, fleetFiles } from './mini-fleet.ts'

const OIL_URL = 'https://github.com/oil/apps'

const namespace = (name: string, labels = '', more = '') =>
  `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${name}\n  labels: {${labels}}\n${more}`
const account = 'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: gitops-reconciler, namespace: oil-system}\n'
const OWNER = '{kind: ServiceAccount, name: "system:serviceaccount:oil-system:gitops-reconciler"}'
const tenant = (name: string, spec: string, version = 'v1beta2') =>
  `apiVersion: capsule.clastix.io/${version}\nkind: Tenant\nmetadata: {name: ${name}}\nspec: ${spec}\n`
const SYNC = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: oil, namespace: oil-system}
spec: {interval: 1m, url: ${OIL_URL}, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: oil-apps, namespace: oil-system}
spec:
  interval: 1m
  prune: true
  path: ./
  serviceAccountName: gitops-reconciler
  sourceRef: {kind: GitRepository, name: oil}
`
const config = (name: string, at: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${at}}\n`

/** The fleet of the Capsule guide: a home without labels, and a Tenant that the account in it owns. */
function guide(documents: readonly string[], oil: Files, file?: string) {
  const platform = documents.join('---\n')
  return {
    url: FLEET_URL,
    fleet: {
      ...fleetFiles,
      'tenants/kustomization.yaml': 'resources: [oil.yaml]\n',
      'tenants/oil.yaml': platform,
      ...(file === undefined ? {} : { '.github/bailiwick.yaml': file }),
    },
    sources: [{ url: OIL_URL, files: oil }],
  }
}

const tenantsOf = (documents: readonly string[], oil: Files = { 'a.yaml': config('a', 'oil-system') }) => {
  const given = guide(documents, oil)
  // the guide's bindings, which are of no matter here, are left out
  const others = said(evaluationOf(given)).filter(text => !text.startsWith('capsule-account-rights'))
  return { tenants: fleetOf(given).tenants as readonly Tenant[], said: others }
}

test('the home of a Tenant’s owner acts for the Tenant', () => {
  const { tenants } = tenantsOf([namespace('oil-system'), account, tenant('oil', `{owners: [${OWNER}]}`), SYNC])
  expect(tenants).toEqual([
    {
      name: 'oil',
      clusters: ['staging'],
      namespaces: ['oil-system'],
      identities: ['system:serviceaccount:oil-system:gitops-reconciler'],
    },
  ])
})

test.each([
  ['a group', '{owners: [{kind: Group, name: "system:serviceaccounts:oil-system"}]}', 'v1beta2'],
  ['a user', '{owners: [{kind: User, name: "system:serviceaccount:oil-system:gitops-reconciler"}]}', 'v1beta1'],
  ['the only owner', `{owner: ${OWNER}}`, 'v1alpha1'],
  ['a selected owner', '{permissions: {matchOwners: [{matchLabels: {team: oil}}]}}', 'v1beta2'],
])('owned as %s', (_what, spec, version) => {
  const owner = `apiVersion: capsule.clastix.io/v1beta2\nkind: TenantOwner\nmetadata: {name: x, labels: {team: oil}}\nspec: ${OWNER}\n`
  const { tenants, said } = tenantsOf([namespace('oil-system'), account, owner, tenant('oil', spec, version), SYNC])
  expect(tenants.map(({ name, namespaces }) => [name, namespaces])).toEqual([['oil', ['oil-system']]])
  expect(said).toEqual([])
})

test.each([
  ['the label of Capsule', namespace('oil-production', 'capsule.clastix.io/tenant: oil')],
  ['its newer label', namespace('oil-production', 'projectcapsule.dev/tenant: oil')],
  [
    'an ownerReference',
    namespace(
      'oil-production',
      '',
      '  ownerReferences: [{apiVersion: capsule.clastix.io/v1beta2, kind: Tenant, name: oil, uid: x}]\n',
    ),
  ],
])('a namespace that the platform gives to a Tenant by %s is the tenant’s', (_what, production) => {
  const parts = [production, namespace('oil-system'), account, tenant('oil', `{owners: [${OWNER}]}`), SYNC]
  const oil = { 'a.yaml': config('a', 'oil-production') }
  for (const documents of [parts, parts.toReversed()]) {
    const { tenants, said } = tenantsOf(documents, oil)
    expect(tenants.map(({ name, namespaces }) => [name, namespaces])).toEqual([
      ['oil', ['oil-production', 'oil-system']],
    ])
    expect(said).toEqual([])
  }
})

test('the label of Flux names the tenant, and its Capsule Tenant with it', () => {
  const home = namespace('oil-system', 'toolkit.fluxcd.io/tenant: petrol')
  const production = namespace('oil-production', 'capsule.clastix.io/tenant: oil')
  const parts = [production, tenant('oil', `{owners: [${OWNER}]}`), home, account, SYNC]
  for (const documents of [parts, parts.toReversed()]) {
    const { tenants } = tenantsOf(documents)
    expect(tenants.map(({ name, namespaces }) => [name, namespaces])).toEqual([
      ['petrol', ['oil-production', 'oil-system']],
    ])
  }
})

test('who is made an owner of another one’s Tenant does not become the other one', () => {
  const gas = [
    namespace('gas-system'),
    'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: gitops-reconciler, namespace: gas-system}\n',
    tenant('gas', `{owners: [${OWNER.replace('oil', 'gas')}]}`),
    namespace('gas-production', 'capsule.clastix.io/tenant: gas'),
  ]
  const oil = [
    namespace('oil-system'),
    account,
    tenant('oil', `{owners: [${OWNER.replace('oil', 'gas')}, ${OWNER}]}`),
    namespace('oil-production', 'capsule.clastix.io/tenant: oil'),
    SYNC,
  ]
  for (const documents of [[...gas, ...oil], [...oil, ...gas], [...oil, ...gas].toReversed()]) {
    const { tenants } = tenantsOf(documents)
    expect(tenants.map(({ name, namespaces }) => [name, namespaces])).toEqual([
      ['gas', ['gas-production', 'gas-system']],
      ['oil', ['oil-production', 'oil-system']],
    ])
  }
})

test('several Tenants of one account are one tenant', () => {
  const documents = [
    namespace('oil-system'),
    account,
    tenant('oil', `{owners: [${OWNER}]}`),
    tenant('coal', `{owners: [${OWNER}]}`),
    namespace('oil-production', 'capsule.clastix.io/tenant: oil'),
    SYNC,
  ]
  for (const order of [documents, documents.toReversed()]) {
    const { tenants } = tenantsOf(order)
    expect(tenants.map(({ name, namespaces }) => [name, namespaces])).toEqual([
      ['coal', ['oil-production', 'oil-system']],
    ])
  }
})

test('a Tenant that people own is named although it has no namespace yet', () => {
  const { tenants } = tenantsOf([
    namespace('oil-system', 'toolkit.fluxcd.io/tenant: oil'),
    account,
    SYNC,
    tenant('water', '{owners: [{kind: User, name: alice}, {kind: Group, name: water-admins}]}'),
  ])
  expect(tenants.find(({ name }) => name === 'water')).toEqual({
    name: 'water',
    clusters: ['staging'],
    namespaces: [],
    identities: ['alice', 'water-admins'],
  })
})

test('namespaces that it creates are its own; those of another Tenant and the platform’s are not', () => {
  const others = [
    namespace('gas-system'),
    'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: gitops-reconciler, namespace: gas-system}\n',
    tenant('gas', `{owners: [${OWNER.replace('oil', 'gas')}]}`),
    namespace('gas-production', 'capsule.clastix.io/tenant: gas'),
  ]
  const documents = [namespace('oil-system'), account, tenant('oil', `{owners: [${OWNER}]}`), SYNC, ...others]
  const oil = (at: string) => ({
    'ns.yaml': namespace('oil-development', 'capsule.clastix.io/tenant: oil'),
    'a.yaml': config('a', at),
  })
  expect(tenantsOf(documents, oil('oil-development')).said).toEqual([])
  expect(tenantsOf(documents, oil('gas-production')).said).toEqual(['namespace-confinement a.yaml:3'])
  expect(tenantsOf(documents, oil('gas-system')).said).toEqual(['namespace-confinement a.yaml:3'])
  expect(tenantsOf(documents, oil('kube-system')).said).toEqual(['namespace-confinement a.yaml:3'])
  expect(tenantsOf(documents, oil('oil-development')).tenants.map(one => one.name)).toEqual(['gas', 'oil'])
})

test('what it puts into a namespace is followed, also before it shows that it creates that namespace', () => {
  const documents = [namespace('oil-system'), account, tenant('oil', `{owners: [${OWNER}]}`), SYNC]
  const sync = (name: string, at: string) =>
    `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ${name}, namespace: ${at}}
spec: {interval: 1m, prune: true, path: ./${name}, serviceAccountName: gitops-reconciler, sourceRef: {kind: GitRepository, name: oil}}
`
  const source = SYNC.split('---')[0]!.replace('namespace: oil-system', 'namespace: oil-production')
  const robot = 'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: gitops-reconciler, namespace: oil-production}\n'
  const files = (order: string) => ({
    'kustomization.yaml': `resources: [${order}]\n`,
    'apps.yaml': `${sync('apps', 'oil-production')}---\n${source}---\n${robot}`,
    'namespaces.yaml': sync('namespaces', 'oil-system'),
    'namespaces/a.yaml': namespace('oil-production'),
    'apps/a.yaml': config('a', 'kube-system'),
  })
  for (const order of ['namespaces.yaml, apps.yaml', 'apps.yaml, namespaces.yaml']) {
    const given = guide(documents, files(order))
    expect(fleetOf(given).nodes.map(node => node.name)).toContain('apps')
    expect(said(evaluationOf(given)), order).toContain('namespace-confinement apps/a.yaml:3')
  }
})

test('a namespace that two tenants create is nobody’s, unless the fleet’s own file says whose it is', () => {
  const gas = [OWNER, SYNC, account].map(text => text.replaceAll('oil', 'gas'))
  const documents = [
    ...[namespace('oil-system'), account, tenant('oil', `{owners: [${OWNER}]}`), SYNC],
    ...[namespace('gas-system'), gas[2]!, tenant('gas', `{owners: [${gas[0]}]}`), gas[1]!],
  ]
  const files = { 'ns.yaml': namespace('shared'), 'a.yaml': config('a', 'shared') }
  const world = (file?: string) => {
    const given = guide(documents, files, file)
    return {
      ...given,
      sources: [...given.sources, { url: OIL_URL.replace('oil', 'gas'), files: { 'ns.yaml': files['ns.yaml'] } }],
    }
  }
  const whose = (file?: string) => {
    const given = world(file)
    const violations = evaluationOf(given).verdict.violations.filter(one => one.rule !== 'capsule-account-rights')
    const owners = fleetOf(given).tenants.filter(({ namespaces }) => namespaces.includes('shared'))
    return { owners: owners.map(({ name }) => name), blamed: [...new Set(violations.map(one => one.tenant))].sort() }
  }
  expect(whose()).toEqual({ owners: [], blamed: ['gas', 'oil'] })
  expect(whose('tenants: [{name: oil, namespaces: [shared]}]\n')).toEqual({ owners: ['oil'], blamed: ['gas'] })
})

test('a Tenant whose owner lives with the platform makes no namespace of it a tenant’s', () => {
  const owner = (at: string) => `{owners: [{kind: ServiceAccount, name: "system:serviceaccount:${at}:robot"}]}`
  for (const home of ['flux-system', 'kube-system', 'default', 'capsule-system']) {
    const { tenants } = tenantsOf([tenant('oil', owner(home))])
    expect(tenants).toEqual([
      { name: 'oil', clusters: ['staging'], namespaces: [], identities: [`system:serviceaccount:${home}:robot`] },
    ])
  }
})

test('the fleet’s own file adds namespaces, where the tenant is', () => {
  const documents = [namespace('oil-system', 'toolkit.fluxcd.io/tenant: oil'), account, SYNC]
  const oil = { 'a.yaml': config('a', 'previews') }
  const file = 'tenants: [{name: oil, namespaces: [previews]}, {name: absent, namespaces: [nowhere]}]\n'
  expect(said(evaluationOf(guide(documents, oil)))).toEqual(['namespace-confinement a.yaml:3'])
  expect(said(evaluationOf(guide(documents, oil, file)))).toEqual([])
  expect(fleetOf(guide(documents, oil, file)).tenants).toMatchObject([
    { name: 'oil', namespaces: ['oil-system', 'previews'] },
  ])
  const elsewhere = file.replace('name: oil,', 'name: oil, clusters: [production],')
  expect(said(evaluationOf(guide(documents, oil, elsewhere)))).toContain('namespace-confinement a.yaml:3')
})
