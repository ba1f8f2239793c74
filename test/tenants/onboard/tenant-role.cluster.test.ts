import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { FleetIndex } from '../../../src/fleet/facts/fleet-index.ts'
import { overlayTree } from '../../../src/fleet/rendering/trees.ts'
import { installedRbac } from '../../../src/flux/installed-rbac.ts'
import { FLUX_KINDS } from '../../../src/kube/flux-kinds.ts'
import type { Json } from '../../../src/kube/node.ts'
import { RBAC_GROUP } from '../../../src/kube/rbac/binding.ts'
import { userInfo, userOfAccount } from '../../../src/kube/rbac/policy-rule.ts'
import { parseOnboardArguments } from '../../../src/tenants/onboard/parse-command.ts'
import { planOnboarding } from '../../../src/tenants/onboard/plan.ts'
import { fleetAt } from '../../../src/tenants/onboard/tenant-layout.ts'
import type { TestCluster } from '../../../tools/envtest/start.ts'
import { inParallel, startWithAggregation, whyNoCluster } from '../../base/kube/rbac/live-cluster.ts'
import { acmeFleet } from './fleets.ts'

const URL = 'https://github.com/acme/fleet'
const FLUX = 'clusters/staging/flux-system'
const EMPTY = '# written by flux bootstrap\n'
const missing = whyNoCluster()

/** A fleet whose components of Flux are a placeholder, with a tenant of the default role and one of `edit`. */
function onboarded() {
  const components = new Map(['gotk-components.yaml', 'gotk-sync.yaml'].map(name => [`${FLUX}/${name}`, EMPTY]))
  let tree = overlayTree(acmeFleet(), components)
  const objects: Json[] = []
  for (const [name, ...more] of [['ops'], ['web', '--role', 'edit']]) {
    const where = ['--repo', `https://github.com/acme/${name}`, '--namespace', `${name}-ns`, '--cluster', 'staging']
    const { files } = planOnboarding(parseOnboardArguments([`${name}`, ...where, ...more]), tree, URL, 'main')
    tree = overlayTree(tree, new Map(files.map(({ path, content }) => [path, content])))
    const written = files.filter(({ path }) => /(?:rbac|cluster-roles)\.yaml$/.test(path))
    objects.push(...written.flatMap(({ content }) => parseAllDocuments(content).map(one => one.toJS() as Json)))
  }
  return { index: new FleetIndex(fleetAt(tree, URL, 'main')), objects }
}

type Plain = { kind: string; apiVersion: string; metadata: { name: string; namespace?: string } }

function pathOf({ kind, apiVersion, metadata: { name, namespace } }: Plain): string {
  const api = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  return `${api}${namespace ? `/namespaces/${namespace}` : ''}/${kind.toLowerCase()}s/${name}`
}

const SSA = 'application/apply-patch+yaml'
const VERBS = ['get', 'list', 'create', 'patch', 'delete', 'impersonate', 'bind', 'escalate']
const RESOURCES: readonly (readonly [group: string, resource: string])[] = [
  ...['configmaps', 'secrets', 'pods', 'pods/exec', 'pods/log', 'serviceaccounts', 'serviceaccounts/token'].map(
    name => ['', name] as const,
  ),
  ...['namespaces', 'resourcequotas', 'limitranges', 'services', 'events', 'nodes'].map(name => ['', name] as const),
  ...['deployments', 'deployments/scale', 'daemonsets'].map(name => ['apps', name] as const),
  ...['ingresses', 'networkpolicies'].map(name => ['networking.k8s.io', name] as const),
  ...['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'].map(name => [RBAC_GROUP, name] as const),
  ['batch', 'jobs'],
  ['coordination.k8s.io', 'leases'],
  ...FLUX_KINDS.flatMap(({ group, plural }) => [[group, plural] as const, [group, `${plural}/status`] as const]),
]
const ACCOUNTS = [
  ['ops-ns', 'ops'],
  ['web-ns', 'web'],
  ['ops-ns', 'default'],
  ...['kustomize-controller', 'helm-controller', 'source-controller', 'source-watcher'].map(
    name => ['flux-system', name] as const,
  ),
] as const

describe.skipIf(missing !== undefined)(
  'what onboarding writes and what is assumed of Flux, on a real API server',
  () => {
    let cluster: TestCluster
    const { index, objects } = onboarded()
    const apply = (object: Plain, more: { readonly as?: string; readonly dryRun?: true } = {}) => {
      const query = `fieldManager=kustomize-controller&force=true${more.dryRun ? '&dryRun=All' : ''}`
      const user = more.as === undefined ? undefined : userInfo(more.as)
      const options = { contentType: SSA, ...(user ? { impersonate: user.name, groups: user.groups } : {}) }
      return cluster.request('PATCH', `${pathOf(object)}?${query}`, object as unknown as Json, options)
    }

    beforeAll(async () => {
      cluster = await startWithAggregation(['flux-system', 'apps'])
      const all = [...objects, ...(installedRbac() as unknown as Json[])] as unknown as Plain[]
      const early = (one: Plain) => ['Namespace', 'ClusterRole'].includes(one.kind)
      for (const object of [...all.filter(early), ...all.filter(one => !early(one))]) {
        const { status, body } = await apply(object)
        if (status >= 300) throw new Error(`${object.kind} ${object.metadata.name}: ${JSON.stringify(body)}`)
      }
      await vi.waitUntil(async () => (await rulesOf('bailiwick-tenant')) > 10 && (await rulesOf('edit')) > 10, 60_000)
    }, 120_000)
    afterAll(() => cluster?.stop())

    const rulesOf = async (name: string) => {
      const { body } = await cluster.request('GET', `/apis/${RBAC_GROUP}/v1/clusterroles/${name}`)
      return ((body as { rules?: readonly Json[] | null }).rules ?? []).length
    }

    test('each account may there what the authorizer says', async () => {
      const asked = ACCOUNTS.flatMap(([namespace, name]) =>
        ['ops-ns', 'apps'].flatMap(place =>
          RESOURCES.flatMap(([apiGroup, text]) =>
            VERBS.map(verb => {
              const [resource = '', subresource] = text.split('/')
              const request = { verb, apiGroup, resource, ...(subresource ? { subresource } : {}), namespace: place }
              return { user: userInfo(userOfAccount(namespace, name)), request: { ...request, name: 'x' } }
            }),
          ),
        ),
      )
      const different = await inParallel(asked, async ({ user, request }) => {
        const { apiGroup: group, ...attributes } = request
        const spec = { resourceAttributes: { ...attributes, group } }
        const as = { impersonate: user.name, groups: user.groups }
        const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
        const { status, body } = await cluster.request('POST', path, { spec } as unknown as Json, as)
        expect(status).toBe(201)
        const there = (body as { status: { allowed: boolean } }).status.allowed
        const here = index.authorizer('staging').allows(user, request)
        return here === there ? [] : [`${user.name} ${JSON.stringify(request)}: ${here}, there ${there}`]
      })
      expect(different.flat()).toEqual([])
      expect(asked.length).toBeGreaterThan(5000)
    }, 300_000)

    test('the tenant applies workloads and roles within its rights, and no others', async () => {
      const as = userOfAccount('ops-ns', 'ops')
      const metadata = { name: 'x', namespace: 'ops-ns' }
      const role = (resources: readonly string[], verbs: readonly string[]) => ({
        apiVersion: `${RBAC_GROUP}/v1`,
        kind: 'Role',
        metadata,
        rules: [{ apiGroups: [''], resources, verbs }],
      })
      const binding = (name: string) => ({
        apiVersion: `${RBAC_GROUP}/v1`,
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name },
        subjects: [{ kind: 'ServiceAccount', name: 'web', namespace: 'ops-ns' }],
      })
      const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'x', image: 'x' }] } }
      const spec = { selector: { matchLabels: { app: 'x' } }, template }
      const answer = async (object: object) => (await apply(object as Plain, { as, dryRun: true })).status
      expect(await answer({ apiVersion: 'v1', kind: 'ConfigMap', metadata })).toBe(201)
      expect(await answer({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec })).toBe(201)
      expect(await answer(role(['configmaps', 'pods/log'], ['get']))).toBe(201)
      expect(await answer(binding('bailiwick-tenant'))).toBe(201)
      expect(await answer(role(['pods/exec'], ['create']))).toBe(403)
      for (const name of ['edit', 'admin', 'cluster-admin'])
        expect([name, await answer(binding(name))]).toEqual([name, 403])
      const elsewhere = { ...metadata, namespace: 'apps' }
      expect(await answer({ apiVersion: 'v1', kind: 'ConfigMap', metadata: elsewhere })).toBe(403)
    })

    test('applying the role again leaves what the cluster collected, and a label extends it', async () => {
      const before = await rulesOf('bailiwick-tenant')
      const role = objects.find(
        one => (one as unknown as Plain).metadata.name === 'bailiwick-tenant',
      ) as unknown as Plain
      expect((await apply(role)).status).toBe(200)
      expect(await rulesOf('bailiwick-tenant')).toBe(before)
      const operator = {
        apiVersion: `${RBAC_GROUP}/v1`,
        kind: 'ClusterRole',
        metadata: { name: 'widgets', labels: { 'bailiwick.dev/aggregate-to-tenant': 'true' } },
        rules: [{ apiGroups: ['example.acme.dev'], resources: ['widgets'], verbs: ['create'] }],
      }
      expect((await apply(operator)).status).toBe(201)
      await vi.waitUntil(async () => (await rulesOf('bailiwick-tenant')) === before + 1, 30_000)
    }, 60_000)
  },
)
