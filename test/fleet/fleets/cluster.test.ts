import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { startCluster, type TestCluster } from '../../../tools/envtest/start.ts'
import { findProgram, programs } from '../../repository/runner/programs.ts'

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly [field: string]: unknown
}

const kustomize = findProgram('kustomize')
const missing =
  kustomize === undefined ? `no kustomize: ${programs.kustomize.get}` : findAssets() ? undefined : NO_ASSETS
const platform = 'system:serviceaccount:flux-system:kustomize-controller'
const devTeam = 'system:serviceaccount:apps:dev-team'
const manager = 'fieldManager=bailiwick-test'

describe('our fleet on a real API server', () => {
  let cluster: TestCluster

  beforeAll(async () => {
    if (missing === undefined) cluster = await startCluster({ workerRbac: false })
  })
  afterAll(() => cluster?.stop())

  test.for(['staging', 'production'])(
    'each part of %s is accepted under its identity, the sandbox refuses the tenant',
    async (name, { skip }) => {
      if (missing !== undefined) return skip(missing)
      const bootstrap = build(`fleet/clusters/${name}/flux-system`)
      // The first apply is the bootstrap by an admin: only it brings the account that the rest is applied as.
      expect(await applyAll(cluster, bootstrap)).toEqual([])
      expect(await applyAll(cluster, bootstrap, platform)).toEqual([])
      for (const path of ['fleet/infrastructure', `fleet/tenants/${name}`]) {
        expect(await applyAll(cluster, build(path), platform), path).toEqual([])
      }
      const storefront = build(`dev-team/${name}`)
      expect(await applyAll(cluster, storefront, devTeam)).toEqual([])

      const astray = storefront.map(object => ({ ...object, metadata: { ...object.metadata, namespace: 'sandbox' } }))
      const refused = await applyAll(cluster, astray, devTeam)
      expect(refused).toHaveLength(astray.length)
      for (const answer of refused) {
        expect(answer).toContain(`User \\"${devTeam}\\" cannot patch resource`)
      }
      const widget = { ...storefront.find(({ kind }) => kind === 'Widget')!, spec: { size: 99 } }
      expect(await applyAll(cluster, [widget], devTeam)).toEqual([expect.stringContaining('spec.size')])
    },
  )
})

function build(path: string): Manifest[] {
  const args = ['build', '--load-restrictor', 'LoadRestrictionsNone', join(import.meta.dirname, 'acme', path)]
  const text = execFileSync(kustomize!, args, { encoding: 'utf8', stdio: 'pipe' })
  return parseAllDocuments(text).map(document => document.toJS() as Manifest)
}

/** Applies CRDs and namespaces, then the rest; returns what the API server refused. */
async function applyAll(cluster: TestCluster, objects: readonly Manifest[], as?: string): Promise<string[]> {
  const isFirst = ({ kind }: Manifest) => kind === 'CustomResourceDefinition' || kind === 'Namespace'
  const refused: string[] = []
  for (const object of [...objects.filter(isFirst), ...objects.filter(object => !isFirst(object))]) {
    const path = `${await resourcePath(cluster, object)}?${manager}&force=true`
    const options = { contentType: 'application/apply-patch+yaml', ...(as === undefined ? {} : { impersonate: as }) }
    const answer = await cluster.request('PATCH', path, JSON.parse(JSON.stringify(object)), options)
    if (answer.status >= 300) refused.push(`${object.kind} ${object.metadata.name}: ${JSON.stringify(answer.body)}`)
  }
  return refused
}

/** Asks discovery for the plural; a CRD that was applied a moment ago is served a little later. */
async function resourcePath(cluster: TestCluster, { apiVersion, kind, metadata }: Manifest): Promise<string> {
  const base = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  for (let attempt = 0; attempt < 100; attempt++) {
    const { body } = await cluster.request('GET', base)
    const { resources = [] } = body as { resources?: { name: string; kind: string; namespaced: boolean }[] }
    const found = resources.find(resource => resource.kind === kind && !resource.name.includes('/'))
    if (found)
      return `${base}/${found.namespaced ? `namespaces/${metadata.namespace}/` : ''}${found.name}/${metadata.name}`
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new Error(`the API server does not serve ${apiVersion} ${kind}`)
}
