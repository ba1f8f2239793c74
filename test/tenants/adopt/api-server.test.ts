import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KUBERNETES_SCOPES } from '../../../src/kube/capabilities/scope.ts'
import { type Json, toJson } from '../../../src/kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../../src/kube/object.ts'
import { resourceOf } from '../../../src/kube/rbac/resources.ts'
import { planAdoption } from '../../../src/tenants/adopt/plan-adoption.ts'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { startCluster, type TestCluster } from '../../../tools/envtest/start.ts'
import { adoptable, homeFleet, withFiles } from './adoptable.ts'

const missing = findAssets() ? undefined : NO_ASSETS
const USER = 'system:serviceaccount:flux-system:flux-web'

const files = homeFleet()
const plan = planAdoption(adoptable(files), { name: 'web' })
const { nodes } = adoptable(withFiles(files, plan.files)).fleet
const web = nodes.find(({ key }) => key === 'home/flux-system/web')!
/** What the parent applies: the account and its roles. Kustomizations have no definition on this API server. */
const rights = nodes
  .find(({ key }) => key === web.parent)!
  .objects.filter(object => !idOf(object).apiVersion.includes('toolkit.fluxcd.io'))

let cluster: TestCluster
beforeAll(async () => {
  if (missing !== undefined) return
  cluster = await startCluster({ workerRbac: false, controllers: ['clusterrole-aggregation-controller'] })
  for (const name of ['flux-system', 'monitoring']) {
    await cluster.request('POST', '/api/v1/namespaces', { metadata: { name } })
  }
  for (const object of rights) expect((await apply(object)).status).toBeLessThan(300)
})
afterAll(() => cluster?.stop())

function pathOf(object: KubeObject): string {
  const { apiVersion, kind, namespace, name } = idOf(object)
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const isCluster = KUBERNETES_SCOPES.get(`${groupOf(apiVersion)}/${kind}`) === 'Cluster'
  return `${base}/${isCluster ? '' : `namespaces/${namespace}/`}${resourceOf(apiVersion, kind, new Map())}/${name}`
}

const APPLY = 'application/apply-patch+yaml'

function apply(object: KubeObject, user?: string, dryRun = '') {
  const options = { contentType: APPLY, ...(user === undefined ? {} : { impersonate: user }) }
  return cluster.request(
    'PATCH',
    `${pathOf(object)}?fieldManager=test&force=true${dryRun}`,
    toJson(object.root),
    options,
  )
}

/** What the API server refuses of everything that Flux does for the Kustomization, as the account. */
async function refusals(): Promise<string[]> {
  const refused: string[] = []
  const note = (what: string, { status, body }: { status: number; body: Json }) => {
    if (status === 403) refused.push(`${what}: ${(body as { message: string }).message}`)
  }
  for (const object of web.objects) {
    const { kind, name } = idOf(object)
    note(`get ${kind} ${name}`, await cluster.request('GET', pathOf(object), undefined, { impersonate: USER }))
    // a binding of a role that is not there yet is refused as one that is not found
    const { status, body } = await apply(object, USER, '&dryRun=All')
    note(`apply ${kind} ${name}`, { status: status < 300 ? status : 403, body })
    const path = `${pathOf(object)}?dryRun=All`
    note(`delete ${kind} ${name}`, await cluster.request('DELETE', path, undefined, { impersonate: USER }))
  }
  for (const list of ['/apis/apps/v1/namespaces/web/replicasets', '/api/v1/namespaces/web/pods']) {
    note(`list ${list}`, await cluster.request('GET', list, undefined, { impersonate: USER }))
  }
  return refused
}

/** The API server's authorizer learns of a changed role a moment later. */
async function until(wanted: (refused: readonly string[]) => boolean): Promise<readonly string[]> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const refused = await refusals()
    if (wanted(refused)) return refused
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  return refusals()
}

interface RoleJson {
  readonly rules: readonly { readonly verbs: readonly string[]; readonly resources: readonly string[] }[]
}

describe.skipIf(missing !== undefined)(
  `the account of an adoption on a real API server${missing ? `: ${missing}` : ''}`,
  () => {
    test('is refused nothing, and one verb less is refused', { timeout: 120_000 }, async () => {
      expect(await until(refused => refused.length === 0)).toEqual([])
      const roles = rights.filter(object => ['Role', 'ClusterRole'].includes(idOf(object).kind))
      const needless: string[] = []
      let tried = 0
      for (const role of roles) {
        const whole = toJson(role.root) as unknown as RoleJson
        for (const [at, rule] of whole.rules.entries()) {
          for (const verb of rule.verbs) {
            tried += 1
            const verbs = rule.verbs.filter(one => one !== verb)
            const rules = whole.rules.flatMap((one, index) =>
              index === at ? (verbs.length > 0 ? [{ ...one, verbs }] : []) : [one],
            )
            const put = await cluster.request('PUT', pathOf(role), { ...whole, rules } as unknown as Json)
            expect(put.status, JSON.stringify(put.body)).toBe(200)
            const refused = await until(all => all.length > 0)
            if (refused.length === 0) needless.push(`${idOf(role).namespace}: ${verb} ${rule.resources.join(', ')}`)
            await cluster.request('PUT', pathOf(role), whole as unknown as Json)
            expect(await until(all => all.length === 0)).toEqual([])
          }
        }
      }
      expect(needless).toEqual([])
      expect(tried).toBe(28)
    })
  },
)
