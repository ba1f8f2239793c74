import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Json, type MapNode, toJson } from '../../../src/kube/node.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import { checkObject } from '../../../src/schema/check-object.ts'
import { packedTypes } from '../../../src/schema/types-table.ts'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { startCluster, type TestCluster } from '../../../tools/envtest/start.ts'
import { type FieldEntry, readWords, typesTable } from '../../../tools/oracles/kubernetes-types.ts'
import { CHANGES, changed } from './core/cases.ts'
import { ACCEPTED, REFUSED } from './custom/cases.ts'
import { rootOf, WIDGET, WIDGETS } from './custom/widget.ts'
import { mutants } from './mutants.ts'
import { OBJECTS } from './objects.ts'
import { UPDATES } from './updates.ts'

const missing = findAssets() ? undefined : NO_ASSETS
const table = packedTypes()
/** Of the API server of the tests. */
const VERSION = 36

type JsonMap = Record<string, Json>
const root = (text: string) => parseDocuments({ repository: '', path: 'a.yaml' }, Buffer.from(text))[0] as MapNode
const APPLY = { contentType: 'application/apply-patch+yaml' }
const CLUSTER_WIDE = new Set(
  'Namespace ClusterRole ClusterRoleBinding StorageClass PriorityClass IngressClass ValidatingWebhookConfiguration CustomResourceDefinition ValidatingAdmissionPolicy PersistentVolume CSIDriver VolumeAttributesClass VolumeAttachment'.split(
    ' ',
  ),
)

describe.skipIf(missing)(`schemas beside a real API server${missing ? ` (${missing})` : ''}`, () => {
  let cluster: TestCluster
  const plurals = new Map<string, string>()

  beforeAll(async () => {
    cluster = await startCluster({ workerRbac: false })
    const metadata = { name: 'probe' }
    await cluster.request('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata })
  }, 60_000)
  afterAll(() => cluster?.stop())

  const pathOf = (apiVersion: string) => (apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`)
  async function pluralOf(apiVersion: string, kind: string): Promise<string> {
    const known = plurals.get(`${apiVersion} ${kind}`)
    if (known !== undefined) return known
    const { body } = await cluster.request('GET', pathOf(apiVersion))
    const resources = (body as unknown as { resources: { kind: string; name: string }[] }).resources
    const name = resources.find(one => one.kind === kind && !one.name.includes('/'))!.name
    plurals.set(`${apiVersion} ${kind}`, name)
    return name
  }
  /** Applies as Flux does, without any effect; undefined where the API server accepts it. */
  async function refusal(object: JsonMap): Promise<string | undefined> {
    const answer = await cluster.request(
      'PATCH',
      `${await requestOf(object)}?dryRun=All&force=true&fieldManager=test`,
      object,
      APPLY,
    )
    return answer.status < 300 ? undefined : String((answer.body as { message?: string }).message)
  }
  async function requestOf(object: JsonMap): Promise<string> {
    const { apiVersion, kind } = object as { apiVersion: string; kind: string }
    const { name } = object.metadata as { name: string }
    const within = CLUSTER_WIDE.has(kind) ? '' : '/namespaces/probe'
    return `${pathOf(apiVersion)}${within}/${await pluralOf(apiVersion, kind)}/${name}`
  }

  test('every valid object is accepted by both', async () => {
    const refused = await Promise.all(OBJECTS.map(text => refusal(toJson(root(text)) as JsonMap)))
    expect(refused.filter(Boolean)).toEqual([])
    expect(OBJECTS.flatMap(text => checkObject(root(text), { version: VERSION }).problems)).toEqual([])
  })

  test('what we refuse of changed objects, the API server refuses', async () => {
    const all = OBJECTS.flatMap(text => [...mutants(toJson(root(text)) as JsonMap)])
    const wrong: string[] = []
    const counts = { both: 0, onlyServer: 0, neither: 0 }
    const work = [...all]
    const lane = async () => {
      for (let one = work.pop(); one; one = work.pop()) {
        const { problems } = checkObject(root(JSON.stringify(one.changed)), { version: VERSION })
        const answer = await refusal(one.changed)
        if (problems.length > 0 && answer === undefined)
          wrong.push(`${one.changed.kind}: ${one.what}: ${problems[0]!.kind}`)
        else if (problems.length > 0) counts.both += 1
        else counts[answer === undefined ? 'neither' : 'onlyServer'] += 1
      }
    }
    await Promise.all(Array.from({ length: 8 }, lane))
    expect(wrong).toEqual([])
    // what only the API server refuses depends on other objects or on the meaning of values
    expect(counts.both).toBeGreaterThan(2 * counts.onlyServer)
    expect(counts.neither).toBeGreaterThan(50)
  }, 120_000)

  test('what OpenAPI does not say: each row is refused or accepted by both', async () => {
    const wrong: string[] = []
    const work = [...CHANGES]
    const lane = async () => {
      for (let one = work.pop(); one; one = work.pop()) {
        const answer = await refusal(toJson(root(changed(one))) as JsonMap)
        if ((answer === undefined) !== (one[4] === '')) wrong.push(`${one[0]}: ${answer ?? 'accepted'}`)
      }
    }
    await Promise.all(Array.from({ length: 8 }, lane))
    expect(wrong).toEqual([])
  }, 60_000)

  test('a custom kind: what we refuse and accept, the API server does', async () => {
    const definition = toJson(rootOf(WIDGETS)) as JsonMap
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    await cluster.request('PATCH', `${definitions}/widgets.example.com?force=true&fieldManager=test`, definition, {
      contentType: 'application/apply-patch+yaml',
    })
    const path = '/apis/example.com/v1/namespaces/probe/widgets/w?dryRun=All&force=true&fieldManager=test'
    const ask = async (text: string) => {
      const json = toJson(rootOf(text)) as JsonMap
      return (await cluster.request('PATCH', path, json, { contentType: 'application/apply-patch+yaml' })).status
    }
    await vi.waitUntil(async () => (await ask(WIDGET)) < 300, { timeout: 30_000, interval: 200 })
    for (const [what, text] of ACCEPTED) expect(await ask(text), what).toBeLessThan(300)
    for (const [what, text] of REFUSED) expect(await ask(text), what).toBeGreaterThanOrEqual(400)
  }, 60_000)

  test('an update that we refuse, the API server refuses, and no other', async () => {
    for (const [index, [what, before, from, to, path]] of UPDATES.entries()) {
      const named = (text: string) => toJson(rootOf(text.replace('name: up', `name: up-${index}`))) as JsonMap
      const request = await requestOf(named(before))
      const stored = await cluster.request('PATCH', `${request}?force=true&fieldManager=test`, named(before), APPLY)
      expect(stored.status, what).toBeLessThan(300)
      const answer = await refusal(named(before.replace(from, to)))
      if (path === '') expect(answer, what).toBeUndefined()
      else
        expect(answer, what).toMatch(
          /immutable|may not change|cannot change|forbidden|Forbidden|expected an IPv6 value|in tandem|must appear in spec.versions/,
        )
    }
  }, 60_000)

  test('the words of fields are those that the API server publishes', async () => {
    expect(table.enums).toEqual(await readWords(cluster, table.types))
  })

  test('the table of types is what the API server publishes', async () => {
    const { body } = await cluster.request('GET', '/openapi/v2')
    const { definitions } = body as unknown as {
      definitions: Parameters<typeof typesTable>[0] extends ReadonlyMap<number, infer D> ? D : never
    }
    const own = Object.entries(definitions).filter(([name]) => !name.startsWith('com.example.'))
    const live = typesTable(new Map([[VERSION, Object.fromEntries(own)]]))
    const isKnown = (entry: unknown) => !Array.isArray(entry) || (entry[1] <= VERSION && VERSION <= entry[2])
    const names = (fields: Readonly<Record<string, unknown>>) =>
      Object.keys(fields).filter(name => isKnown(fields[name]))
    const types: Readonly<Record<string, { fields: Readonly<Record<string, unknown>> }>> = table.types
    for (const kind of Object.keys(live.kinds)) expect(names(table.kinds), kind).toContain(kind)
    for (const [name, { fields }] of Object.entries(live.types)) {
      expect(names(types[name]!.fields).sort(), name).toEqual(Object.keys(fields).sort())
      for (const [field, entry] of Object.entries(fields)) {
        const ours = types[name]!.fields[field]
        expect(plain(ours as FieldEntry), `${name}.${field}`).toBe(plain(entry))
      }
    }
  })
})

/** Without versions and without the keys of lists, which older versions may lack. */
const plain = (entry: FieldEntry) => (typeof entry === 'string' ? entry : entry[0]).replaceAll(/\[[^\]]*\]/g, '[]')
