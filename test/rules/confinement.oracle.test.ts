import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { FleetNode } from '../../src/fleet/model/fleet.ts'
import { revisionSetOf } from '../../src/fleet/model/input.ts'
import { type Json, toJson } from '../../src/kube/node.ts'
import { idOf, type KubeObject } from '../../src/kube/object.ts'
import { EvaluateSession } from '../../src/verdict/evaluate-sides.ts'
import { findAssets, NO_ASSETS } from '../../tools/envtest/assets.ts'
import { startCluster, type TestCluster } from '../../tools/envtest/start.ts'
import { inParallel } from '../base/kube/rbac/live-cluster.ts'
import { type Given, inputOf } from '../fleet/fleet-of.ts'
import { fleetFiles, miniFleet } from '../fleet/mini-fleet.ts'
import { Draw, type TenantChange } from './tenant-change.ts'
import { definitions, WORLDS } from './tenant-worlds.ts'

const SEED = Number(process.env.CONFINEMENT_SEED ?? 20_264)
const CHANGES = Number(process.env.CONFINEMENT_CHANGES ?? 1000)
const missing = findAssets() ? undefined : NO_ASSETS
let cluster: TestCluster

beforeAll(async () => {
  if (missing !== undefined) return console.warn(missing)
  cluster = await startCluster({ workerRbac: false })
  for (const name of ['apps', 'ops', 'flux-system']) {
    await cluster.request('POST', '/api/v1/namespaces', { metadata: { name } })
  }
  await Promise.all(definitions.map(apply))
  await served('example.com')
  await served('elsewhere.example.com')
})
afterAll(() => cluster?.stop())

/** What became of one change. */
interface Outcome {
  readonly change: TenantChange
  readonly passed: boolean
  /** Only rules about where objects lie and what they are object. */
  readonly confined: boolean
  /** Objects that the API server takes from the account, outside of the tenant's namespaces and inside. */
  readonly outside: readonly string[]
  readonly inside: readonly string[]
}

/** A kind of unknown scope that the account may create in the whole cluster is refused on purpose, also where it has namespaces. */
const SCOPES = ['namespace-confinement', 'cluster-scoped-forbidden', 'target-namespace']

test('what we pass is accepted nowhere outside of the tenant’s namespaces', { timeout: 300_000 }, async ctx => {
  if (missing !== undefined) return ctx.skip(missing)
  const outcomes: Outcome[] = []
  for (const [at, world] of WORLDS.entries()) {
    const rbac = documents(world.rbac)
    for (const object of [...tenantRights(), ...rbac]) await apply(object)
    const draw = new Draw(SEED + at)
    const count = Math.ceil(CHANGES / WORLDS.length)
    const changes = Array.from({ length: count }, () => draw.change())
    const evaluate = openFleet(world.rbac)
    outcomes.push(...(await inParallel(changes, change => outcomeOf(change, evaluate(change.files)))))
    for (const object of rbac) await remove(object)
  }
  const passedOutside = outcomes.filter(({ passed, outside }) => passed && outside.length > 0)
  expect(passedOutside.map(described)).toEqual([])
  const refusedInside = outcomes.filter(
    one => !one.passed && one.confined && one.inside.length > 0 && one.outside.length === 0,
  )
  expect(refusedInside.map(described), 'refused although everything lies in the tenant’s namespaces').toEqual([])
  const caught = outcomes.filter(({ passed, outside }) => !passed && outside.length > 0)
  const fine = outcomes.filter(({ passed, inside }) => passed && inside.length > 0)
  console.log(
    `${outcomes.length} changes: ${fine.length} passed and were accepted inside, ${caught.length} refused that the API server would accept outside`,
  )
  // worlds in which nothing could go wrong would show nothing
  expect(caught.length).toBeGreaterThan(CHANGES / 50)
  expect(fine.length).toBeGreaterThan(CHANGES / 10)
})

const described = ({ change, outside, inside }: Outcome) => ({ outside, inside, files: change.files })

function fleetWith(rbac: string, files: Readonly<Record<string, string>> = {}): Given {
  const given = miniFleet({ dev: files })
  return {
    ...given,
    fleet: {
      ...given.fleet,
      'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, rbac.yaml, definitions.yaml]\n',
      'tenants/rbac.yaml': rbac,
      'tenants/definitions.yaml': definitions
        .slice(0, 2)
        .map(one => JSON.stringify(one))
        .join('\n---\n'),
    },
  }
}

/** Evaluates changes of the fleet of a world, which is built once, with the objects that each adds. */
function openFleet(rbac: string) {
  const session = new EvaluateSession()
  const before = inputOf(fleetWith(rbac))
  const base = session.build(before)
  const known = new Set(base.nodes.flatMap(node => node.objects.map(one => keyOf(node, one))))
  return (files: Readonly<Record<string, string>>) => {
    const input = { ...inputOf(fleetWith(rbac, files)), config: before.fleet.tree }
    const head = session.build(input)
    const { verdict } = session.evaluateFleet(head, { revisionSet: revisionSetOf(input), base })
    const added = head.nodes.flatMap(node =>
      node.tenant === 'dev-team' && node.identity.impersonated
        ? node.objects.filter(one => !known.has(keyOf(node, one))).map(object => ({ node, object }))
        : [],
    )
    return { verdict, added }
  }
}

type Evaluated = ReturnType<ReturnType<typeof openFleet>>

async function outcomeOf(change: TenantChange, { verdict, added }: Evaluated): Promise<Outcome> {
  const rules = verdict.violations.filter(({ state }) => state === 'new').map(({ rule }) => rule)
  const errors = verdict.errors.filter(({ state }) => state === 'new')
  const answers = await Promise.all(added.map(dryRun))
  const named = (wanted: Answer) =>
    added.flatMap(({ object }, index) => (answers[index] === wanted ? [JSON.stringify(idOf(object))] : []))
  return {
    change,
    passed: rules.length === 0 && errors.length === 0,
    confined: errors.length === 0 && rules.length > 0 && rules.every(rule => SCOPES.includes(rule)),
    outside: named('outside'),
    inside: named('inside'),
  }
}

const keyOf = (node: FleetNode, object: KubeObject) => JSON.stringify([node.key, idOf(object)])

type Answer = 'refused' | 'inside' | 'outside'

/** Where the API server would take an object from the account that Flux impersonates; as Flux, by server-side apply. */
async function dryRun({ node, object }: { node: FleetNode; object: KubeObject }): Promise<Answer> {
  const json = toJson(object.root)
  const path = await pathOf(json)
  if (path === undefined) return 'refused'
  const { status } = await cluster.request('PATCH', `${path}?fieldManager=t&force=true&dryRun=All`, json, {
    contentType: 'application/apply-patch+yaml',
    impersonate: node.identity.user,
  })
  if (status !== 200 && status !== 201) return 'refused'
  return path.includes('/namespaces/apps/') ? 'inside' : 'outside'
}

interface Resource {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
}
const resources = new Map<string, Promise<readonly Resource[]>>()

/** The address of an object as the API server serves its kind; undefined where it serves none such. */
async function pathOf(json: Json): Promise<string | undefined> {
  const { apiVersion, kind, metadata } = json as {
    apiVersion: string
    kind: string
    metadata: { name: string; namespace?: string }
  }
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const list =
    resources.get(root) ??
    cluster.request('GET', root).then(({ body }) => (body as unknown as { resources?: Resource[] }).resources ?? [])
  resources.set(root, list)
  const resource = (await list).find(one => one.kind === kind && !one.name.includes('/'))
  if (!resource) return undefined
  const inside = resource.namespaced ? `/namespaces/${metadata.namespace || 'default'}` : ''
  return `${root}${inside}/${resource.name}/${metadata.name}`
}

async function apply(object: Json): Promise<void> {
  const { status, body } = await cluster.request('PATCH', `${await pathOf(object)}?fieldManager=t&force=true`, object, {
    contentType: 'application/apply-patch+yaml',
  })
  expect([200, 201], JSON.stringify(body)).toContain(status)
}

async function remove(object: Json): Promise<void> {
  await cluster.request('DELETE', (await pathOf(object))!)
}

async function served(group: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const { body } = await cluster.request('GET', `/apis/${group}/v1`)
    if (((body as unknown as { resources?: Resource[] }).resources ?? []).length > 1) return
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new Error(`${group} is not served`)
}

const documents = (text: string): Json[] =>
  text
    .split(/^---$/m)
    .map(one => parse(one) as Json)
    .filter(one => one !== null)

/** The account and its binding, as the fleet of the tests has them. */
const tenantRights = () =>
  documents(fleetFiles['tenants/dev-team.yaml']!).filter(one =>
    ['ServiceAccount', 'RoleBinding'].includes((one as { kind: string }).kind),
  )
