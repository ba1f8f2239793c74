import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Json } from '../../../../src/kube/node.ts'
import packed from '../../../../src/schema/custom/catalog.json' with { type: 'json' }
import { checkCustom } from '../../../../src/schema/custom/check-custom.ts'
import { schemaOf } from '../../../../src/schema/custom/custom-schema.ts'
import { type Definition, definitionOf, type PackedVersion } from '../../../../src/schema/custom/definition.ts'
import { unpack } from '../../../../src/schema/types-table.ts'
import { findAssets, NO_ASSETS } from '../../../../tools/envtest/assets.ts'
import { startCluster, type TestCluster } from '../../../../tools/envtest/start.ts'
import { mutated, randomOf, randomValue, textsIn } from './random-object.ts'
import { rootOf } from './widget.ts'

type JsonMap = { [key: string]: Json }
type Group = Readonly<Record<string, Readonly<Record<string, PackedVersion>>>>

const missing = findAssets() ? undefined : NO_ASSETS
/** Objects per version of a kind; more are asked for by hand. */
const COUNT = Number(process.env.CEL_OBJECTS ?? 3)
const SEED = Number(process.env.CEL_SEED ?? 1)
const APPLY = { contentType: 'application/apply-patch+yaml' }

interface Kind {
  readonly group: string
  readonly kind: string
  readonly version: string
  readonly schema: Json
  readonly definition: Definition
}

/** Kinds that are always asked about; all of the catalog are where more objects are asked for by hand. */
const ALWAYS = ['Tenant', 'HTTPRoute', 'Bucket', 'Kustomization', 'GeneratingPolicy', 'ResourceSetInputProvider']

/** Kinds of the catalog whose schemas have rules, each as a definition of its own that a cluster can have. */
function kindsWithRules(): { readonly object: JsonMap; readonly kinds: readonly Kind[] }[] {
  return Object.entries(packed.groups).flatMap(([group, text]) =>
    Object.entries(unpack<Group>(text)).flatMap(([kind, versions]) => {
      const entries = Object.entries(versions)
      if (!process.env.CEL_OBJECTS && !ALWAYS.includes(kind)) return []
      if (!entries.some(([, [schema]]) => schemaOf(schema).hasRules)) return []
      const plural = `${kind.toLowerCase()}s`
      const object = {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `${plural}.${group}`, annotations: { 'api-approved.kubernetes.io': 'unapproved, test' } },
        spec: {
          ...{ group, scope: 'Cluster' },
          names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
          versions: entries.map(([name, [schema, hasStatus]], index) => ({
            ...{ name, served: true, storage: index === 0, schema: { openAPIV3Schema: schema } },
            ...(hasStatus ? { subresources: { status: {} } } : {}),
          })),
        },
      }
      const definition = definitionOf(rootOf(JSON.stringify(object)))!
      const kinds = entries.map(([version, [schema]]) => ({ group, kind, version, schema, definition }))
      return [{ object, kinds }]
    }),
  )
}

describe.skipIf(missing)(`rules of custom kinds beside a real API server${missing ? ` (${missing})` : ''}`, () => {
  let cluster: TestCluster
  const asked = kindsWithRules()

  beforeAll(async () => {
    cluster = await startCluster({ workerRbac: false })
    for (const { object } of asked) {
      const name = (object.metadata as { name: string }).name
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}?force=true&fieldManager=test`
      const answer = await cluster.request('PATCH', path, object, APPLY)
      if (answer.status >= 300) throw new Error(`${name}: ${JSON.stringify(answer.body).slice(0, 1_000)}`)
    }
    for (const { kinds } of asked) {
      for (const { group, kind, version } of kinds)
        await vi.waitUntil(
          async () => (await cluster.request('GET', `/apis/${group}/${version}/${kind.toLowerCase()}s`)).status === 200,
          { timeout: 60_000, interval: 100 },
        )
    }
  }, 180_000)
  afterAll(() => cluster?.stop())

  let attempt = 0
  const counts = { asked: 0, refused: 0, byRule: 0, updates: 0, notEvaluated: 0, serverAlone: 0 }
  const different: string[] = []
  const unclear = new Map<string, number>()

  async function ask(one: Kind, object: JsonMap, old: JsonMap | undefined): Promise<void> {
    const { group, kind, version, definition } = one
    const path = `/apis/${group}/${version}/${kind.toLowerCase()}s`
    const name = (object.metadata as { name: string }).name
    const answer = old
      ? await cluster.request('PUT', `${path}/${name}?dryRun=All`, object)
      : await cluster.request('POST', `${path}?dryRun=All`, object)
    const before = old && rootOf(JSON.stringify(old))
    const { problems, notEvaluated = [] } = checkCustom(rootOf(JSON.stringify(object)), definition, { old: before })
    counts.asked += 1
    if (old) counts.updates += 1
    if (notEvaluated.length > 0) counts.notEvaluated += 1
    for (const { why, rule } of notEvaluated) unclear.set(`${why}: ${rule}`, (unclear.get(`${why}: ${rule}`) ?? 0) + 1)
    const isRefused = answer.status === 422 || answer.status === 400
    const words = JSON.stringify(answer.body)
    if (answer.status >= 300 && !isRefused) throw new Error(words)
    if (isRefused) counts.refused += 1
    const [rules, others] = [
      problems.filter(({ kind: what }) => what === 'rule'),
      problems.filter(p => p.kind !== 'rule'),
    ]
    const isSame = isRefused === problems.length > 0
    if (rules.length > 0 && isRefused) {
      // every rule of ours is in the words of the server
      const missed = rules.filter(({ found }) => !words.includes(JSON.stringify(found).slice(1, -1).slice(0, 200)))
      if (missed.length === 0) counts.byRule += 1
      else if (others.length === 0 && !words.includes('rules were not checked'))
        different.push(`${kind}: words: ${missed[0]!.found} / ${words.slice(0, 600)}`)
    }
    if (isSame || notEvaluated.length > 0) return
    // formats that are not compared: no rule was asked, or none refused it
    const causes = (answer.body as { details?: { causes?: { message: string }[] } }).details?.causes ?? []
    const isOfSchema =
      problems.length === 0 &&
      causes.every(({ message }) => / in body |must validate|rules were not checked/.test(message))
    if (isRefused && isOfSchema) counts.serverAlone += 1
    else
      different.push(
        `${kind} ${version}: ${problems[0]?.found ?? 'passes'} / ${words.slice(0, 700)} / ${JSON.stringify(object).slice(0, 1_500)}`,
      )
  }

  async function askAll(one: Kind): Promise<void> {
    const { group, kind, version, schema } = one
    const words = textsIn(schema)
    const path = `/apis/${group}/${version}/${kind.toLowerCase()}s`
    for (let index = 0; index < COUNT; index++) {
      const random = randomOf(SEED * 1_000_003 + index)
      const made = () => {
        const value = randomValue(random, schemaOf(schema), words) as JsonMap | undefined
        return (
          value && {
            ...value,
            apiVersion: `${group}/${version}`,
            kind,
            metadata: { name: `o-${version}-${attempt}-${index}` },
          }
        )
      }
      const [first, second] = [made(), made()]
      if (!first || !second) continue
      await ask(one, first, undefined)
      const stored = await cluster.request('POST', path, first)
      if (stored.status >= 300) continue
      const changed = mutated(random, first, second) as JsonMap
      const { name, resourceVersion } = (stored.body as { metadata: { name: string; resourceVersion: string } })
        .metadata
      const metadata = { name, resourceVersion }
      await ask(one, { ...changed, apiVersion: first.apiVersion, kind, metadata } as JsonMap, first)
      await cluster.request('DELETE', `${path}/${name}`)
    }
  }

  test('the same answer about random objects, and random changes of them', async () => {
    attempt += 1
    for (const { kinds } of asked) await Promise.all(kinds.map(askAll))
    if (process.env.CEL_OBJECTS)
      writeFileSync(
        process.env.CEL_REPORT ?? '/dev/stdout',
        `${JSON.stringify(counts)}\n${[...unclear].map(([why, count]) => `${count} ${why}`).join('\n')}\n${different.length} different\n${different.join('\n')}\n`,
      )
    expect(different).toEqual([])
    expect(counts.byRule).toBeGreaterThan(COUNT)
    expect(counts.notEvaluated).toBeLessThan(counts.asked / 50)
  }, 600_000)
})
