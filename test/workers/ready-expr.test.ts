import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DEFAULT_SETTINGS } from '../../src/flux/apply-settings.ts'
import { ClusterMemory } from '../../workers/apply/cluster-memory.ts'
import { configMap, createTenant } from '../cluster/cluster-under-test.ts'
import {
  type FluxWorld,
  KUSTOMIZATION,
  kustomizations,
  missing,
  openFluxWorld,
  put,
} from '../cluster/status/flux-world.ts'
import { nodeOf, openWorker, type TestWorker } from '../cluster/status/worker-world.ts'

describe('dependsOn with readyExpr', () => {
  let world: FluxWorld
  let worker: TestWorker
  let now = 0
  const memory = new ClusterMemory({ now: () => now, patienceMs: 50 })

  const declare = (name: string, annotations: { [key: string]: string } = {}) =>
    put(world.cluster, kustomizations('apps'), {
      ...KUSTOMIZATION,
      metadata: { name, namespace: 'apps', annotations },
      spec: { interval: '1h', prune: true, sourceRef: { kind: 'GitRepository', name } },
    })
  beforeAll(async () => {
    if (missing !== undefined) return
    world = await openFluxWorld()
    worker = await openWorker(world, memory)
    await createTenant(world.cluster, 'apps', 'dev-team')
    await declare('first', { version: 'one' })
    await declare('second', { version: 'two' })
  }, 120_000)
  afterAll(async () => {
    memory.close()
    worker?.client.close()
    await world?.close()
  })

  const first = nodeOf({ namespace: 'apps', name: 'first' }, [configMap('apps', 'first')])
  const second = (expression: string) =>
    nodeOf({ namespace: 'apps', name: 'second' }, [configMap('apps', `after-${expression.length}`)], {
      dependsOn: [first.key],
      settings: { ...DEFAULT_SETTINGS, readyExprs: [{ dependency: 'apps/first', expression }] },
    })
  const run = async (expression: string, nodes = [first, second(expression)]) => {
    now += 3_600_000
    const said = (await worker.run(nodes)).at(-1)!
    return said.reason === undefined ? said.outcome : `${said.outcome}: ${said.reason}`
  }
  const VERSIONS = "dep.metadata.annotations['version'] == self.metadata.annotations['version']"
  const READY = "dep.status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True')"
  const notReady = "held: dependency 'apps/first' is not ready according to readyExpr eval"

  test('it waits until the expression over the two live objects is true', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    expect(await run(`${VERSIONS} && ${READY}`)).toBe(notReady)
    await declare('first', { version: 'two' })
    expect(await run(`${VERSIONS} && ${READY}`)).toBe('applied')
  })

  test('the expression decides instead of the outcome of the dependency', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const refused = nodeOf({ namespace: 'apps', name: 'first' }, [configMap('other', 'first')])
    expect(await run('', [refused, second('has(dep.spec)')])).toBe('applied')
    const plain = nodeOf({ namespace: 'apps', name: 'second' }, [configMap('apps', 'plain')], {
      dependsOn: [first.key],
    })
    expect(await run('', [refused, plain])).toBe(`held: its dependency ${first.key} is not ready`)
  })

  test('what cannot be worked out is not ready, and says why', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    expect(await run("dep.status.nothing == 'x'")).toBe(
      "held: readyExpr of dependency 'apps/first': no such key: nothing",
    )
    const gone = nodeOf({ namespace: 'apps', name: 'second' }, [configMap('apps', 'gone')], {
      settings: { ...DEFAULT_SETTINGS, readyExprs: [{ dependency: 'apps/nobody', expression: 'true' }] },
    })
    expect(await run('', [gone])).toBe("held: dependency 'apps/nobody' not found")
  })
})
