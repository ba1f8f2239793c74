import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringAt } from '../../../src/cluster/json.ts'
import { findFlux } from '../../../tools/envtest/flux-assets.ts'
import { configMap, createTenant, get } from '../cluster-under-test.ts'
import {
  conditionOf,
  type FluxWorld,
  KUSTOMIZATION,
  kustomizations,
  missing,
  openFluxWorld,
  put,
} from './flux-world.ts'
import { COMMIT, nodeOf, openWorker, type TestWorker } from './worker-world.ts'

const at = { namespace: 'apps', name: 'shop' }
const PATH = `${kustomizations('apps')}/shop`

describe('the flux command sees what the worker did', () => {
  let world: FluxWorld
  let worker: TestWorker
  const flux = async (...args: string[]) => {
    const all = [...args, '--namespace=apps', `--kubeconfig=${world.cluster.adminKubeconfig}`]
    const { stdout, stderr } = await promisify(execFile)(findFlux()!.cli, all)
    return { stdout, stderr }
  }
  const deployed = () => worker.run([nodeOf(at, [configMap('apps', 'one'), configMap('apps', 'two')])])

  beforeAll(async () => {
    if (missing !== undefined) return
    world = await openFluxWorld()
    worker = await openWorker(world)
    await createTenant(world.cluster, 'apps', 'dev-team')
    await put(world.cluster, kustomizations('apps'), {
      ...KUSTOMIZATION,
      metadata: at,
      spec: { interval: '1h', prune: true, sourceRef: { kind: 'GitRepository', name: 'shop' } },
    })
    expect(await deployed()).toMatchObject([{ outcome: 'applied' }])
  }, 120_000)
  afterAll(async () => {
    worker?.client.close()
    await world?.close()
  })

  test('flux get ks', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const { stdout } = await flux('get', 'ks')
    expect(
      stdout
        .split('\n')[1]!
        .split('\t')
        .map(cell => cell.trim()),
    ).toEqual([
      'shop',
      `main@sha1:${COMMIT.slice(0, 8)}`,
      'False',
      'True',
      `Applied revision: main@sha1:${COMMIT.slice(0, 8)}`,
      '',
    ])
  })

  test('flux tree ks', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const { stdout } = await flux('tree', 'ks', 'shop')
    expect(stdout).toBe('Kustomization/apps/shop\n├── ConfigMap/apps/one\n└── ConfigMap/apps/two\n\n')
  })

  test('flux events', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const { stdout } = await flux('events', '--for', 'Kustomization/shop')
    expect(stdout).toMatch(/Normal\s+Progressing\s+Kustomization\/shop\s+ConfigMap\/apps\/one created/)
    expect(stdout).toMatch(
      /Normal\s+ReconciliationSucceeded\s+Kustomization\/shop\s+Reconciliation finished in .*, next run in 1h0m0s/,
    )
  })

  test('flux reconcile ks', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const asked = flux('reconcile', 'ks', 'shop', '--timeout=20s')
    await expect
      .poll(async () =>
        stringAt(await get(world.cluster, PATH), 'metadata', 'annotations', 'reconcile.fluxcd.io/requestedAt'),
      )
      .not.toBe('')
    await deployed()
    expect((await asked).stderr).toContain(`applied revision main@sha1:${COMMIT}`)
  })

  test('a run that changes nothing writes nothing', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    worker.requests.length = 0
    await deployed()
    expect(worker.requests.filter(one => /kustomizations\/|events/.test(one))).toEqual([])
  })

  test('what is refused is told, and what waits', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const other = nodeOf(at, [configMap('elsewhere', 'one')], { commit: 'b'.repeat(40) })
    await worker.run([other])
    const live = await get(world.cluster, PATH)
    expect(conditionOf(live!, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'ReconciliationFailed',
      message: expect.stringContaining('ConfigMap/elsewhere/one dry-run failed (Forbidden): '),
    })
    expect(live).toMatchObject({
      status: { lastAppliedRevision: `main@sha1:${COMMIT}`, lastAttemptedRevision: `main@sha1:${'b'.repeat(40)}` },
    })
    await worker.run([], {
      nodes: [{ ...other, findings: [], failures: [], hides: [], refused: [] }],
      held: [{ node: other.key, reason: 'it violates a rule' }],
    })
    expect(conditionOf((await get(world.cluster, PATH))!, 'Ready')).toMatchObject({
      reason: 'NotApproved',
      message: 'it violates a rule',
    })
  })

  test('a Kustomization that is not there is no failure, and is said', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const [node] = await worker.run([nodeOf({ namespace: 'apps', name: 'absent' }, [configMap('apps', 'three')])])
    expect(node).toMatchObject({
      outcome: 'applied',
      note: 'its status is not shown: the cluster has no Kustomization apps/absent',
    })
  })
})
