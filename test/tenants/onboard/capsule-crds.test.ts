import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { overlayTree } from '../../../src/fleet/rendering/trees.ts'
import type { Tree } from '../../../src/git/tree.ts'
import type { Json } from '../../../src/kube/node.ts'
import { parseOnboardArguments } from '../../../src/tenants/onboard/parse-command.ts'
import { planOnboarding } from '../../../src/tenants/onboard/plan.ts'
import { pullRequestText } from '../../../src/tenants/onboard/pull-request-text.ts'
import { fleetAt } from '../../../src/tenants/onboard/tenant-layout.ts'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { startCluster, type TestCluster } from '../../../tools/envtest/start.ts'
import { acmeFleet } from './fleets.ts'

const ARGS = ['ops-team', '--repo', 'https://github.com/acme/ops-team', '--namespace', 'ops', '--cluster', 'staging']
const URL = 'https://github.com/acme/fleet'
const RBAC = 'tenants/base/dev-team/rbac.yaml'
const INFRASTRUCTURE = 'infrastructure/capsule.yaml'
const FIXTURES = join(import.meta.dirname, '../../fixtures/capsule')

/** Everything that limits a Tenant in v1beta2, as its documentation has it. */
const LIMITS = `  namespaceOptions:
    quota: 3
    forbiddenLabels: {denied: [example.com/zone], deniedRegex: '^pod-security[.].*'}
    forbiddenAnnotations: {denied: [example.com/owner]}
    requiredMetadata: {labels: {env: '^(prod|test)$'}}
    additionalMetadataList:
    - namespaceSelector: {matchExpressions: [{key: env, operator: In, values: [prod]}]}
      labels: {pod-security.kubernetes.io/enforce: baseline}
      annotations: {example.com/cost: "7"}
  networkPolicies:
    items:
    - {podSelector: {}, policyTypes: [Ingress], ingress: [{from: [{namespaceSelector: {}}]}]}
  resourceQuotas:
    scope: Tenant
    items: [{hard: {limits.cpu: "8", pods: 50}}]
  limitRanges: {items: [{limits: [{type: Container, default: {cpu: 100m}}]}]}
  serviceOptions: {allowedServices: {externalName: false, nodePort: false}}
  ingressOptions: {hostnameCollisionScope: Cluster, allowWildcardHostnames: false}
  priorityClasses: {allowed: [low], matchLabels: {tier: tenants}}
  nodeSelector: {pool: tenants}
  imagePullPolicies: [Always]
  forceTenantPrefix: false
`
const OLD_LIMITS = `  namespaceOptions: {quota: 3, additionalMetadata: {labels: {env: prod}}}
  storageClasses: {allowed: [fast], allowedRegex: '^slow-.*$'}
  imagePullPolicies: [Always]
`

const tenant = (name: string, version: string, limits: string, owners = '') => `---
apiVersion: capsule.clastix.io/${version}
kind: Tenant
metadata:
  name: ${name}
spec:
  owners:
  - kind: ServiceAccount
    name: system:serviceaccount:apps:dev-team
${owners}${limits}`

const CONFIGURATION = `apiVersion: capsule.clastix.io/v1beta2
kind: CapsuleConfiguration
metadata:
  name: default
spec:
  enableTLSReconciler: false
  userGroups:
  - capsule.clastix.io
  - system:serviceaccounts:apps
  users:
  - {kind: Group, name: people}
`

const textOf = (tree: Tree, path: string) => new TextDecoder().decode(tree.read(path))

function fleetWith(...tenants: readonly string[]): Tree {
  const list = 'infrastructure/kustomization.yaml'
  return overlayTree(
    acmeFleet(),
    new Map([
      [RBAC, `${textOf(acmeFleet(), RBAC).trimEnd()}\n${tenants.join('')}`],
      [list, textOf(acmeFleet(), list).replace('resources:\n', 'resources:\n  - capsule.yaml\n')],
      [INFRASTRUCTURE, CONFIGURATION],
    ]),
  )
}

function onboarded(tree: Tree) {
  const request = parseOnboardArguments(ARGS)
  const plan = planOnboarding(request, tree, URL, 'main')
  const file = (path: string) => plan.files.find(one => one.path === path)!.content
  const objects = parseAllDocuments(file('tenants/base/ops-team/capsule.yaml')).map(one => one.toJS())
  return { plan, objects, configuration: parse(file(INFRASTRUCTURE)), body: pullRequestText(plan).body }
}

interface Subject {
  readonly kind: string
  readonly name: string
}

interface Written {
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly owners: readonly Subject[]
    readonly additionalRoleBindings?: readonly { readonly subjects: readonly Subject[] }[]
    readonly namespaceOptions?: {
      readonly forbiddenLabels?: { readonly deniedRegex?: string }
      readonly forbiddenAnnotations?: { readonly deniedRegex?: string }
      readonly requiredMetadata?: { readonly labels?: Readonly<Record<string, string>> }
    }
    readonly storageClasses?: { readonly allowedRegex?: string }
  }
}

/** What internal/webhook/tenant/validation of Capsule refuses in a Tenant, as far as a manifest shows it. */
function refusedByWebhook({ metadata, spec }: Written): string[] {
  const name = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/
  const isAccount = (text: string) => /^system:serviceaccount:[^:]+:[^:]+$/.test(text)
  const subjects = (spec.additionalRoleBindings ?? []).flatMap(binding => binding.subjects)
  const { forbiddenLabels, forbiddenAnnotations, requiredMetadata } = spec.namespaceOptions ?? {}
  const patterns = [
    forbiddenLabels?.deniedRegex,
    forbiddenAnnotations?.deniedRegex,
    ...Object.values(requiredMetadata?.labels ?? {}),
    spec.storageClasses?.allowedRegex,
  ]
  const accounts = (list: readonly Subject[]) => list.filter(({ kind }) => kind === 'ServiceAccount')
  return [
    ...(name.test(metadata.name) ? [] : ['name']),
    ...accounts(spec.owners).flatMap(one => (isAccount(one.name) ? [] : ['owner'])),
    ...accounts(subjects).flatMap(one => (name.test(one.name) ? [] : ['subject'])),
    ...patterns.flatMap(one => (one === undefined || canCompile(one) ? [] : ['pattern'])),
  ]
}

function canCompile(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u')
    return true
  } catch {
    return false
  }
}

test('what limits every other Tenant limits the new one; what differs or names one is left to people', () => {
  const differ = tenant(
    'second',
    'v1beta2',
    LIMITS.replace('quota: 3', 'quota: 4'),
    '  - {kind: Group, name: people}\n',
  )
  const own = `${LIMITS.replace('pool: tenants', 'pool: dev-team')}`
  expect(onboarded(fleetWith(tenant('dev-team', 'v1beta2', LIMITS))).objects[0].spec).toEqual({
    ...parse(LIMITS),
    additionalRoleBindings: expect.anything(),
    // without it, Capsule binds the owner to `admin`, which can write the status of sources
    owners: [
      {
        ...{ clusterRoles: ['capsule-namespace-deleter'], kind: 'ServiceAccount' },
        name: 'system:serviceaccount:ops:ops-team',
      },
    ],
  })
  const { objects, body } = onboarded(fleetWith(tenant('dev-team', 'v1beta2', LIMITS), differ))
  expect(objects[0].spec.namespaceOptions).toBeUndefined()
  expect(objects[0].spec.nodeSelector).toEqual({ pool: 'tenants' })
  expect(body).toContain('⚠️ It does not have `spec.namespaceOptions`: the other Tenants differ')
  const named = onboarded(fleetWith(tenant('dev-team', 'v1beta2', own)))
  expect(named.objects[0].spec.nodeSelector).toBeUndefined()
  expect(named.body).toContain('It does not have `spec.nodeSelector`')
})

test('the same again gives no files', () => {
  const tree = fleetWith(tenant('dev-team', 'v1beta2', LIMITS))
  const { plan } = onboarded(tree)
  const after = overlayTree(tree, new Map(plan.files.map(({ path, content }) => [path, content])))
  expect(fleetAt(after, URL, 'main').nodes.filter(({ error }) => error)).toEqual([])
  expect(planOnboarding(parseOnboardArguments(ARGS), after, URL, 'main').files).toEqual([])
})

const missing = findAssets() ? undefined : NO_ASSETS
describe.skipIf(missing)(`Capsule's own definitions on a real API server${missing ? ` (${missing})` : ''}`, () => {
  let cluster: TestCluster
  beforeAll(async () => {
    cluster = await startCluster({ workerRbac: false })
    for (const file of ['tenants.yaml', 'capsuleconfigurations.yaml']) {
      const definition = parse(readFileSync(join(FIXTURES, file), 'utf8'))
      const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
      expect((await cluster.request('POST', path, definition)).status).toBe(201)
      const { plural } = definition.spec.names
      const isServed = async () =>
        (await cluster.request('GET', `/apis/capsule.clastix.io/v1beta2/${plural}`)).status === 200
      while (!(await isServed())) await new Promise(resolve => setTimeout(resolve, 100))
    }
  }, 120_000)
  afterAll(() => cluster?.stop())

  const PLURALS: Readonly<Record<string, string>> = {
    Tenant: 'tenants',
    CapsuleConfiguration: 'capsuleconfigurations',
    ClusterRole: 'clusterroles',
    ClusterRoleBinding: 'clusterrolebindings',
  }
  const answer = async (object: { apiVersion: string; kind: string }) => {
    const path = `/apis/${object.apiVersion}/${PLURALS[object.kind]}?fieldValidation=Strict&dryRun=All`
    const { status, body } = await cluster.request('POST', path, object as unknown as Json)
    return status === 201 ? 'accepted' : JSON.stringify(body)
  }

  test.each([
    ['v1beta2, with every limit', 'v1beta2', LIMITS, ''],
    ['v1beta1', 'v1beta1', OLD_LIMITS, ''],
    ['without limits', 'v1beta2', '', ''],
    ['beside groups that own', 'v1beta2', LIMITS, '  - {kind: Group, name: people, clusterRoles: [view]}\n'],
  ])('accept what onboarding writes: %s', async (_, version, limits, owners) => {
    const other = tenant('dev-team', version, limits, owners)
    const { objects, configuration } = onboarded(fleetWith(other))
    const all = [parse(other.replace('---\n', '')), ...objects, configuration]
    expect(objects[0].kind).toBe('Tenant')
    const answers = []
    for (const object of all) answers.push(await answer(object))
    expect(answers).toEqual(all.map(() => 'accepted'))
    expect(refusedByWebhook(objects[0])).toEqual([])
  })

  test('refuse what is no Tenant: the test would see it', async () => {
    const { objects } = onboarded(fleetWith(tenant('dev-team', 'v1beta2', '')))
    const [made] = objects
    const wrong = { ...made, spec: { ...made.spec, owners: [{ kind: 'Robot', name: 'x' }] } }
    expect(await answer(wrong)).toContain('Unsupported value')
    expect(await answer({ ...made, spec: { ...made.spec, quota: 3 } })).toContain('unknown field')
    const short = { ...made, spec: { owners: [{ kind: 'ServiceAccount', name: 'ops:ops-team' }] } }
    expect(refusedByWebhook(short)).toEqual(['owner'])
  })
})
