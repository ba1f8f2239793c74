import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../../src/kube/node.ts'
import { haveAssets } from '../cluster-under-test.ts'
import type { Fault, Seen } from '../fault-proxy.ts'
import { type CrashLab, openCrashLab, unexpected } from './crash-lab.ts'
import type { CrashWorld } from './crash-world.ts'
import { differenceOf, endState } from './end-state.ts'
import { type Applier, openApplier } from './open-applier.ts'
import { requestKind } from './request-kind.ts'

const FAULTS: readonly [string, Fault][] = [
  ['500', { status: 500 }],
  ['503', { status: 503 }],
  ['504', { status: 504 }],
  ['408', { status: 408 }],
  ['409', { status: 409 }],
  ['429 with Retry-After', { status: 429, retryAfter: 1 }],
  ['429 of priority and fairness', { status: 429, retryAfter: 1, text: true }],
  ['no answer', 'hang'],
  ['a closed connection', 'reset'],
  ['an answer that is lost', 'lost'],
  ['half an answer', 'half'],
  ['a length that is too small', 'short'],
  ['a length that is too large', 'long'],
  ['half of the JSON', 'cut'],
  ['JSON that says nothing', 'empty'],
  ['the 404 of something else', { status: 404, text: true }],
  ['broken TLS', 'tls'],
]
/** Each kind of request with each fault; by default each kind with some, and each fault with some kinds. */
const EVERY = process.env.EVERY_FAULT !== undefined
const SOME = 17
/** After which fault of which request the worker sends what it sends at no other time. */
const SECOND: readonly [string, Fault][] = [
  ['account dry-run apply configmaps', { status: 503 }],
  ['worker update configmaps', 'lost'],
  ['worker merge-patch kustomizations/status', { status: 409 }],
  ['account delete configmaps', { status: 403 }],
]
/** An inventory that somebody changed is read again before anything is applied: pruning must not guess. */
const FOR_ALL = 'worker get configmaps'
/** Another worker writes the inventory: a run ends there, and the next one goes on. */
const isFence = (kind: string, fault: Fault) =>
  /^worker (?:create|update|delete) configmaps$/.test(kind) &&
  typeof fault === 'object' &&
  'status' in fault &&
  fault.status === 409
/** A busy server, or a busy machine: it is applied. */
const SLOW_HEALTH = 'its health checks still run'
/** As often as it takes until something was told twice. */
const ROUNDS = 4
const INVENTORIES = '/api/v1/namespaces/bailiwick-system/configmaps'
const MERGE = { contentType: 'application/merge-patch+json' }
const ROOT = join(import.meta.dirname, '../../..')
/** What has tests of its own: the election, clusters of a kubeConfig, values, verified sources. The client hands on what others send. */
const ELSEWHERE =
  /^(?:src\/cluster\/(?:lease|api-client)\.ts|src\/cluster\/remote\/|src\/cluster\/refused-targets\.ts:\d+ assertVerified$|workers\/apply\/open-approved\.ts:\d+ read$|workers\/apply\/open-sealed\.ts:\d+ readIdentities$)/

describe.skipIf(!haveAssets())('a kind of request meets a fault', () => {
  let lab: CrashLab
  /** Every kind of request that the worker sends; true: also for one tenant alone. */
  const kinds = new Map<string, boolean>()
  const sites = new Set<string>()

  beforeAll(async () => {
    Error.stackTraceLimit = 40
    lab = await openCrashLab()
    const world = await lab.open()
    const worker = await open(world, noteSites)
    await everything(worker, world, () => false)
    await worker.close()
    for (const seen of lab.proxy.seen) {
      const kind = requestKind(seen)
      kinds.set(kind, kinds.get(kind) === true || isOfSick(world, seen))
    }
    await lab.finish(world)
    for (const [kind, fault] of SECOND) await provoke(kind, fault)
  }, 120_000)
  afterAll(async () => {
    Error.stackTraceLimit = 10
    await lab?.close()
  })

  /** What is sent only after another request has failed. */
  async function provoke(kind: string, fault: Fault): Promise<void> {
    const world = await lab.open()
    lab.proxy.rule = seen => (requestKind(seen) === kind && isOfSick(world, seen) ? fault : undefined)
    const worker = await open(world, noteSites)
    await worker.run(world.after).catch(() => {})
    lab.proxy.rule = undefined
    await worker.close()
    await lab.finish(world)
  }

  const noteSites = (stack: string) => {
    for (const [, file, line] of stack.matchAll(/(\/\S+?\.ts):(\d+):\d+/g))
      sites.add(`${relative(ROOT, file!)}:${line}`)
  }

  const open = (world: CrashWorld, called?: (stack: string) => void) =>
    openApplier(lab.proxy.kubeconfig, world.cluster, {
      ...{ timeoutMs: 1500, drift: 'watch', passMs: 0 },
      ...(called ? { called } : {}),
    })

  /** Runs until `isOver`, with drift between: what the last run said, or why it ended. */
  async function everything(worker: Applier, world: CrashWorld, isOver: () => boolean) {
    let said = await worker.run(world.after).catch((error: Error) => error)
    for (let round = 1; round < ROUNDS && !isOver(); round++) {
      await drift(world)
      said = await worker.run(world.after).catch((error: Error) => error)
    }
    return said
  }

  async function drift({ well, sick, inventoriesOfSick }: CrashWorld): Promise<void> {
    const { server } = lab.under
    for (const name of inventoriesOfSick)
      await server.request('PATCH', `${INVENTORIES}/${name}`, { metadata: { annotations: { read: 'again' } } }, MERGE)
    for (const tenant of [well, sick]) {
      const path = `/api/v1/namespaces/${tenant}/configmaps/kept`
      const theirs = { data: { key: 'theirs' } }
      await server.request('PATCH', path, theirs, MERGE)
    }
  }

  /** What is wrong for the others while the fault lasts, and for everybody afterwards. */
  async function meet(kind: string, fault: Fault): Promise<string[]> {
    const world = await lab.open()
    const isAlone = kinds.get(kind) === true && kind !== FOR_ALL
    let met = 0
    lab.proxy.rule = seen => {
      if (requestKind(seen) !== kind || (isAlone && !isOfSick(world, seen))) return undefined
      met++
      return fault
    }
    const worker = await open(world)
    const said = await everything(worker, world, () => met > 0)
    const problems: string[] = met > 0 ? [] : ['it was not sent']
    if (isAlone && said instanceof Error && !isFence(kind, fault)) problems.push(`the run ended: ${said.message}`)
    if (isAlone && !(said instanceof Error)) {
      // where the platform fails, its Kustomizations have no status yet
      const ofWell = said.filter(({ key }) => key.includes(world.well)).map(({ note: _, ...one }) => one)
      const others = ofWell.map(one => (one.reason === SLOW_HEALTH ? { ...one, reason: '' } : one))
      problems.push(...others.flatMap(unexpected))
      problems.push(...differenceOf(appOf(lab.reference.state), appOf(await endState(lab.under.server, world))))
    }
    lab.proxy.rule = undefined
    await worker.close()
    return [...problems, ...(await lab.finish(world, / \S+\/configmaps\/kept$/))].map(one => `${kind}: ${one}`)
  }

  test.each(FAULTS)(
    '%s: the others are applied, and afterwards all is as without it',
    async (_, fault) => {
      const turn = FAULTS.findIndex(one => one[1] === fault)
      const all = [...kinds.keys()].sort()
      const chosen = EVERY ? all : all.filter((_, index) => index % SOME === turn % SOME)
      const problems: string[] = []
      for (const kind of chosen) problems.push(...(await meet(kind, fault)))
      expect(problems).toEqual([])
    },
    3_600_000,
  )

  test('every place that sends a request is among them', () => {
    const files = globSync(['src/cluster/**/*.ts', 'workers/apply/**/*.ts'], { cwd: ROOT })
    const all = files.flatMap(file => {
      const lines = readFileSync(join(ROOT, file), 'utf8').split('\n')
      let name = ''
      return lines.flatMap((line, index) => {
        name = /^(?:export )?(?:async )?(?:function\*?|class|const) (\w+)/.exec(line)?.[1] ?? name
        return /\.(?:request|stream)\(/.test(line) && !ELSEWHERE.test(`${file}:${index + 1} ${name}`)
          ? [`${file}:${index + 1}`]
          : []
      })
    })
    expect(all.filter(place => !sites.has(place))).toEqual([])
  })
})

/** The request is about the sick tenant alone. */
function isOfSick({ sick, inventoriesOfSick }: CrashWorld, { path, query, user, body }: Seen): boolean {
  if (`${path}/`.includes(`/${sick}/`) || user.includes(`:${sick}:`)) return true
  if (inventoriesOfSick.some(name => path.endsWith(name) || body.includes(`"${name}"`))) return true
  return query.get('labelSelector')?.includes(sick) === true
}

/** What the other tenant's Kustomizations apply. */
function appOf(state: Json): Json {
  const objects = Object.entries(state as Record<string, Json>)
  return Object.fromEntries(
    objects.filter(([path]) => /\/WORLD-well\/(?:configmaps (?!old)|secrets|replicasets)/.test(path)),
  )
}
