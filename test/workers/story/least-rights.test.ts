import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itemsAt, stringAt } from '../../../src/cluster/json.ts'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { type InClusterWorld, openInCluster, workerManifests } from './in-cluster-world.ts'
import { liveStatus } from './live.ts'
import {
  type AuditEvent,
  auditEvents,
  auditFlags,
  covers,
  deniedIn,
  nameOf,
  type Right,
  requestOf,
  rightsOf,
} from './worker-rights.ts'

const missing = findAssets() ? undefined : NO_ASSETS
const WORKER = 'system:serviceaccount:bailiwick-system:bailiwick'
const STOREFRONT = '/apis/apps/v1/namespaces/apps/deployments/storefront'
const QUOTA = '/api/v1/namespaces/sandbox/resourcequotas/ceiling'
const INVENTORIES = '/api/v1/namespaces/bailiwick-system/configmaps'
/** Deletions of one object until one of its events is counted. A Kustomization may have 25 events at once (client-go). */
const MAX_DRIFTS = 8

/** What is needed only where something happens that is no part of this story, and what that is. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'get namespaces kube-system': 'a kubeConfig may lead to this very cluster (src/cluster/remote)',
  'get serviceaccounts dev-team in apps': 'a Kustomization is deleted after its account (src/cluster/cluster-error.ts)',
  'get serviceaccounts kustomize-controller in flux-system': 'the same, of the platform',
}

const isEventIn = ({ objectRef }: AuditEvent, namespace: string) =>
  objectRef?.resource === 'events' && objectRef.namespace === namespace

describe.skipIf(missing)(`the least rights of a worker in its cluster${missing ? ` (${missing})` : ''}`, () => {
  const directory = mkdtempSync(join(tmpdir(), 'bailiwick-audit-'))
  const { flags, log } = auditFlags(directory)
  let world: InClusterWorld
  const events = () => auditEvents(log, WORKER)

  const writesOf = (namespace: string, verb: string) =>
    events().filter(one => one.verb === verb && isEventIn(one, namespace)).length
  const eventWrites = (namespace: string) => writesOf(namespace, 'create') + writesOf(namespace, 'patch')
  const isCounted = (namespace: string) => writesOf(namespace, 'patch') > 0

  beforeAll(async () => {
    world = await openInCluster({ flags })
    await world.stage.settle()
    const { cluster, stage } = world
    const drift = async (path: string) => {
      await cluster.request('DELETE', path)
      await world.comesTo(async () => (await liveStatus(cluster, path)) === 200)
    }
    const first = world.startWorker()
    await world.comesTo(async () => (await liveStatus(cluster, QUOTA)) === 200)
    await world.comesTo(async () => (await liveStatus(cluster, STOREFRONT)) === 200)
    // the same again: its event is told by patching the first, unless something else was put back with it
    const driftUntilCounted = async (path: string, namespace: string) => {
      for (let attempt = 0; attempt < MAX_DRIFTS && !isCounted(namespace); attempt++) {
        const before = eventWrites(namespace)
        await drift(path)
        await world.comesTo(() => eventWrites(namespace) > before)
      }
    }
    await driftUntilCounted(STOREFRONT, 'apps')
    await driftUntilCounted(QUOTA, 'flux-system')
    world.startWorker()
    await first.close()
    await drift(STOREFRONT)
    // somebody else writes an inventory
    const { body } = await cluster.request('GET', `${INVENTORIES}?labelSelector=app.kubernetes.io/managed-by=bailiwick`)
    const name = itemsAt(body, 'items').map(one => stringAt(one, 'metadata', 'name'))[0]
    const noted = { metadata: { annotations: { note: 'looked at' } } }
    const contentType = 'application/merge-patch+json'
    await cluster.request('PATCH', `${INVENTORIES}/${name}`, noted, { contentType })
    // a Kustomization leaves git
    const text = fleetFiles('acme/fleet')['clusters/staging/infrastructure.yaml']!
    const files = { 'clusters/staging/infrastructure.yaml': text.split('---\n')[0]! }
    stage.github.push({ repo: 'acme/fleet', files, as: 'ada' })
    await world.comesTo(() => events().some(one => one.verb === 'delete' && one.objectRef?.resource === 'configmaps'))
  }, 480_000)
  afterAll(async () => {
    await world?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  test('nothing that the worker asks for is refused', () => {
    expect(events().length).toBeGreaterThan(100)
    expect(deniedIn(events())).toEqual([])
  })

  test('each single right is needed by a request', async () => {
    const requests = events().flatMap(requestOf)
    const rights = rightsOf(await workerManifests())
    expect(rights.length).toBeGreaterThan(40)
    const superfluous = rights.filter(right => !requests.some(request => covers(right, request))).map(nameOf)
    expect(superfluous.sort()).toEqual(Object.keys(ELSEWHERE).sort())
  })

  test('without any one of them a request would be refused, by name', async () => {
    const requests = events().flatMap(requestOf)
    const rights = rightsOf(await workerManifests())
    const isAlone = (right: Right) => {
      const others = rights.filter(other => other !== right && (right.isDrift || !other.isDrift))
      return requests.some(request => covers(right, request) && !others.some(other => covers(other, request)))
    }
    const alone = rights.filter(isAlone)
    const doubled = rights.filter(right => !alone.includes(right) && ELSEWHERE[nameOf(right)] === undefined).map(nameOf)
    expect(doubled).toEqual([])
  })
})
