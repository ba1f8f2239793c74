import { generateIdentity, identityToRecipient } from 'age-encryption'
import { afterEach, expect, test } from 'vitest'
import { jsonAt, stringAt } from '../../../src/cluster/json.ts'
import type { Json } from '../../../src/kube/node.ts'
import { findAssets, NO_ASSETS, NO_CONTROLLERS } from '../../../tools/envtest/assets.ts'
import { everyObject } from '../../../tools/envtest/every-object.ts'
import { programs } from '../../repository/runner/programs.ts'
import { hasRedis } from '../queue/start-redis.ts'
import { until } from '../queue/until.ts'
import { type DeathAt, killedAt } from './killed-at.ts'
import { liveStatus } from './live.ts'
import { openProcesses, type Processes } from './processes.ts'
import { FLEET, giveIdentity, ONBOARD, sealFleet, TEAM } from './sealed-fleet.ts'

const missing = !findAssets()
  ? NO_ASSETS
  : !findAssets()!.controllerManager
    ? NO_CONTROLLERS
    : !hasRedis
      ? programs['redis-server'].get
      : undefined
const OPS = '/api/v1/namespaces/ops'
const DASHBOARD = '/apis/apps/v1/namespaces/ops/deployments/dashboard'
const CONTROLLERS = ['namespace-controller', 'garbage-collector-controller']
/** The clusters and programs of the test keep these. */
const KEPT = /^(?:Event|Lease|Endpoints|EndpointSlice|APIService) | bailiwick-system\//
const LIMIT_MS = 60_000

/** Where the worker dies while a pull request is opened; all of them with EVERY_MOMENT. */
const OPENING: readonly DeathAt[] = [
  { method: 'POST', end: '/git/refs', done: true },
  { method: 'POST', end: '/pulls', done: false },
  { method: 'POST', end: '/check-runs', done: true },
]
const chosen = (deaths: readonly DeathAt[], some: readonly number[]) =>
  deaths.filter((_, index) => process.env.EVERY_MOMENT !== undefined || some.includes(index))

let app: Processes | undefined
afterEach(async () => {
  await app?.close()
  app = undefined
})

test.skipIf(missing)(
  `a tenant leaves by two pull requests while processes are killed${missing ? ` (${missing})` : ''}`,
  async () => {
    const { issue, before } = await openWorld()
    const { github, staging, redis } = app!
    const say = (body: string) => github.comment({ repo: FLEET, issue, as: 'ada', body })
    const keys = () => github.repositoryNamed(TEAM).deployKeys
    const has = async (path: string) => (await liveStatus(staging, path)) === 200
    const pulls = (stage: 'workloads' | 'rest') =>
      github.pullRequestsOf(FLEET).filter(({ head }) => head.ref.endsWith(`-${stage}`))

    // the role `admin` is filled by a controller that does not run here
    say(ONBOARD.replace('--role admin', '--role cluster-admin'))
    await app!.settle()
    merge(github.pullRequestsOf(FLEET).at(-1)!.issue.number)
    await app!.settle()
    expect([await has(OPS), await has(DASHBOARD), keys().length]).toEqual([true, true, 1])

    await dies(chosen(OPENING, [0, 2]), () => say('/bailiwick offboard ops-team'))
    expect([pulls('workloads').length, pulls('rest').length]).toEqual([1, 0])
    expect([await has(DASHBOARD), keys().length]).toEqual([true, 1])

    // the account prunes while it lives; every process dies then, and Redis forgets
    merge(pulls('workloads')[0]!.issue.number)
    await until(async () => !(await has(DASHBOARD)), LIMIT_MS)
    await app!.killAll()
    await redis.flush()
    expect([await has(OPS), await has(`${OPS}/serviceaccounts/ops-team`), pulls('rest').length]).toEqual([
      true,
      true,
      0,
    ])

    // the second opens by itself
    await dies(chosen(OPENING, [1]), () => app!.start())
    expect([await has(OPS), keys().length, pulls('rest').length]).toEqual([true, 1, 1])

    const key = `/keys/${keys()[0]!.id}`
    await dies([{ method: 'DELETE', end: key, done: false }], () => merge(pulls('rest')[0]!.issue.number))
    await until(async () => !(await has(OPS)), LIMIT_MS)
    await until(() => keys().length === 0, LIMIT_MS)
    expect(github.filesOf(FLEET, 'main').filter(path => path.includes('ops-team'))).toEqual([])
    expect(await others()).toEqual(before)
    expect([github.violations, github.unknown]).toEqual([[], []])
  },
  300_000,
)

/** The App runs on a fleet without ops-team; what the cluster has then. */
async function openWorld() {
  const identity = await generateIdentity()
  const recipient = await identityToRecipient(identity)
  app = await openProcesses({ prepare: github => sealFleet(github, recipient), controllers: CONTROLLERS })
  await giveIdentity(app.staging, identity)
  const issue = app.github.issue({ repo: FLEET, title: 'A tenant', body: 'please', as: 'ada' }).number
  await app.start()
  await app.settle()
  return { issue, before: await others() }
}

function merge(pull: number): void {
  expect(app!.github.merge({ repo: FLEET, pull, as: 'ada' })).toMatchObject({ status: 200 })
}

/** The worker dies at each of these requests; after each death another one goes on. */
async function dies(deaths: readonly DeathAt[], begin: () => unknown): Promise<void> {
  let next = begin
  for (const death of deaths) {
    const dead = killedAt(app!, death)
    const begun = Promise.resolve(next()).catch(() => 'killed while it started')
    await dead
    await begun
    next = () => app!.start()
  }
  await app!.start()
  await app!.settle()
}

/** What is not the tenant's: each object with its identity and what is wished of it, and no finalizer that it waits for. */
async function others(): Promise<Record<string, readonly Json[]>> {
  const all = [...(await everyObject(app!.staging))]
  const own = all.filter(([name]) => !/ ops(?:\/|$)/.test(name) && !KEPT.test(name))
  return Object.fromEntries(
    own.map(([name, one]) => [
      name,
      [
        stringAt(one, 'metadata', 'uid'),
        stringAt(one, 'metadata', 'deletionTimestamp'),
        ...['spec', 'data', 'rules', 'subjects'].map(field => jsonAt(one, field) ?? null),
      ],
    ]),
  )
}
