import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { itemsAt, jsonAt, stringAt } from '../../../src/cluster/json.ts'
import type { Json } from '../../../src/kube/node.ts'
import { findAssets, NO_ASSETS, NO_CONTROLLERS } from '../../../tools/envtest/assets.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { type DeployedWorld, openDeployed } from '../../repository/package/pods/deployed-world.ts'
import { programs } from '../../repository/runner/programs.ts'
import { hasRedis } from '../queue/start-redis.ts'
import { until } from '../queue/until.ts'
import type { Manifest } from './in-cluster-world.ts'
import { liveStatus } from './live.ts'
import { deploymentFile } from './tenant-changes.ts'
import { auditEvents, auditFlags, covers, deniedIn, nameOf, type Right, requestOf, rightsOf } from './worker-rights.ts'

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
const lacking = ['apt-get', 'dpkg-deb', 'unshare', 'nsenter', 'setpriv', 'ip'].find(program => !has(program))
const noAssets = findAssets()?.controllerManager ? undefined : findAssets() ? NO_CONTROLLERS : NO_ASSETS
const missing = lacking ? `no ${lacking}` : hasRedis ? noAssets : programs['redis-server'].get

const directory = mkdtempSync(join(tmpdir(), 'bailiwick-deployed-audit-'))
const SYSTEM = 'bailiwick-system'
const WORKER = `system:serviceaccount:${SYSTEM}:bailiwick`
const TENANT = 'system:serviceaccount:apps:dev-team'
const REPO = 'acme/dev-team'
const REPORT = '/apis/apps/v1/namespaces/apps/deployments/report'
const INVENTORIES = `/api/v1/namespaces/${SYSTEM}/configmaps`
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${SYSTEM}/leases/bailiwick-worker`
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
/** Of deploy/worker/rbac.yaml, and no part of this story: a kubeConfig may lead to this very cluster (src/cluster/remote). */
const ELSEWHERE = ['get namespaces kube-system']

const given = parseAllDocuments(readFileSync('deploy/worker/rbac.yaml', 'utf8')).map(one => one.toJS() as Manifest)
const rights = rightsOf(given)

describe.skipIf(missing)(`deploy/ on an API server${missing ? ` (${missing})` : ''}`, () => {
  const { flags, log } = auditFlags(directory)
  let world: DeployedWorld
  beforeAll(async () => {
    world = await openDeployed(flags)
    const { kubelet } = world
    await Promise.all([
      kubelet.start('bailiwick', 'bailiwick-web'),
      kubelet.start('bailiwick', 'bailiwick-worker'),
      kubelet.start(SYSTEM, 'bailiwick-worker'),
    ])
  }, 400_000)
  afterAll(async () => {
    await world?.close()
    rmSync(directory, { recursive: true, force: true })
  }, 120_000)

  const workers = () =>
    world.kubelet.pods.filter(
      ({ pod: { metadata } }) => metadata.namespace === SYSTEM && metadata.name.startsWith('bailiwick-worker'),
    )
  const runOf = (ref: string, name: string, repo = REPO) =>
    world.github.checkRunsOf(repo, ref).findLast(one => one.name === name)
  const open = (branch: string, files: Readonly<Record<string, string>>): number => {
    const { github } = world
    return github.propose({ repo: REPO, branch, files, as: 'dora' })
  }
  const withResource = (name: string) =>
    fleetFiles(REPO)['base/kustomization.yaml']!.replace('  - widget.yaml\n', `  - widget.yaml\n  - ${name}.yaml\n`)

  test('every Deployment is available with the replicas of its manifest, and Redis, by their probes', async () => {
    for (const [namespace, name, plural, count] of [
      ['bailiwick', 'bailiwick-web', 'deployments', 2],
      ['bailiwick', 'bailiwick-worker', 'deployments', 2],
      [SYSTEM, 'bailiwick-worker', 'deployments', 2],
      ['bailiwick', 'bailiwick-redis', 'statefulsets', 1],
    ] as const) {
      const path = `/apis/apps/v1/namespaces/${namespace}/${plural}/${name}`
      await until(
        async () => jsonAt((await world.cluster.request('GET', path)).body, 'status', 'availableReplicas') === count,
      )
    }
    expect(world.kubelet.pods).toHaveLength(7)
  })

  test('one of two workers has the Lease, and both are ready', async () => {
    const { body } = await world.cluster.request('GET', LEASE)
    const holder = stringAt(body, 'spec', 'holderIdentity')
    expect(holder).not.toBe('')
    expect(workers().length).toBe(2)
  })

  test('the processes run as the manifests say: their user, a root that is read-only, no new privileges', () => {
    for (const { pod, program } of world.kubelet.pods) {
      const status = readFileSync(`/proc/${program.process.pid}/status`, 'utf8')
      const field = (name: string) => new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(status)?.[1]
      expect(field('NoNewPrivs')).toBe('1')
      if (process.getuid?.() !== 0) continue
      expect(field('Uid')?.split('\t')).toEqual(Array(4).fill(String(pod.spec.securityContext.runAsUser)))
      expect([field('Groups')?.trim(), field('CapEff')]).toEqual(['', '0000000000000000'])
      const mounts = readFileSync(`/proc/${program.process.pid}/mounts`, 'utf8').split('\n')
      expect(mounts.find(line => line.split(' ')[1] === '/')).toMatch(/ ro,/)
    }
  })

  test('from a pull request to the cluster, applied as the account of the tenant', async () => {
    const { github, cluster } = world
    await world.comesTo(() => runOf('main', 'bailiwick / apply (staging)')?.conclusion === 'success')
    const files = { 'base/kustomization.yaml': withResource('report'), 'base/report.yaml': deploymentFile('report') }
    const pull = open('report', files)
    await world.comesTo(() => runOf('report', 'bailiwick / tenancy')?.conclusion === 'success')
    expect(await liveStatus(cluster, REPORT)).toBe(404)
    expect(github.merge({ repo: REPO, pull, as: 'dora' })).toMatchObject({ status: 200 })
    await world.comesTo(async () => (await liveStatus(cluster, REPORT)) === 200)
    await world.comesTo(() => runOf('main', 'bailiwick / apply (staging)')?.conclusion === 'success')
    const writes = auditEvents(log, WORKER).filter(
      ({ verb, objectRef = {} }) =>
        verb === 'patch' && objectRef.resource === 'deployments' && objectRef.name === 'report',
    )
    expect(writes.length).toBeGreaterThan(0)
    expect([...new Set(writes.map(({ impersonatedUser }) => impersonatedUser?.username))]).toEqual([TENANT])
  }, 200_000)

  test('a change that leaves its namespace is blocked, and what is merged all the same is not applied', async () => {
    const { github, cluster } = world
    const files = {
      'base/kustomization.yaml': withResource('rogue').replace('namespace: apps\n', ''),
      'base/rogue.yaml': deploymentFile('rogue', 'kube-system'),
    }
    const pull = open('rogue', files)
    await world.comesTo(() => runOf('rogue', 'bailiwick / tenancy')?.conclusion === 'failure')
    expect(github.merge({ repo: REPO, pull, as: 'dora' }).status).toBe(405)
    // an admin goes around the check
    github.push({ repo: REPO, files, as: 'ada' })
    await world.comesTo(() => runOf('main', 'bailiwick / apply (staging)')?.conclusion === 'failure')
    expect(await liveStatus(cluster, REPORT.replace('apps/deployments/report', 'kube-system/deployments/rogue'))).toBe(
      404,
    )
    expect(await liveStatus(cluster, REPORT)).toBe(200)
    const back = { 'base/kustomization.yaml': withResource('report'), 'base/report.yaml': deploymentFile('report') }
    github.push({ repo: REPO, files: back, as: 'ada' })
    await world.comesTo(() => runOf('main', 'bailiwick / apply (staging)')?.conclusion === 'success')
  }, 200_000)

  test('nothing that the worker asks for is refused, and the App asks the API server nothing', () => {
    const events = auditEvents(log, WORKER)
    expect(events.length).toBeGreaterThan(50)
    expect(deniedIn(events)).toEqual([])
    expect(auditEvents(log, 'system:serviceaccount:bailiwick:bailiwick')).toEqual([])
  })

  /** The rest of a change that needs each right: an inventory is new, or goes; another was written by somebody else. */
  let turn = 0
  const changeAll = async (): Promise<string> => {
    const { github, cluster } = world
    const marker = `turn-${++turn}`
    const { body } = await cluster.request('GET', `${INVENTORIES}?labelSelector=app.kubernetes.io/managed-by=bailiwick`)
    const noted = { metadata: { annotations: { note: marker } } }
    // of one that changed, not of many: those are listed again
    const path = `${INVENTORIES}/${stringAt(itemsAt(body, 'items')[0], 'metadata', 'name')}`
    await cluster.request('PATCH', path, noted, { contentType: 'application/merge-patch+json' })
    const [limits = '', sandbox = ''] = fleetFiles('acme/fleet')['clusters/staging/infrastructure.yaml']!.split('---\n')
    const more = sandbox
      .replace('name: sandbox-limits', `name: limits-${marker}`)
      .replace('path: ./limits', 'path: ./more')
    const list = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: MARKER}\n'.replace('MARKER', marker)
    const files = {
      'clusters/staging/infrastructure.yaml': [limits, sandbox, more.replace(/ {2}patches:[\s\S]*$/, '')].join('---\n'),
      'more/map.yaml': list,
    }
    github.push({ repo: 'acme/fleet', files, as: 'ada' })
    return marker
  }
  const isApplied = (marker: string) => async () =>
    (await liveStatus(world.cluster, `/api/v1/namespaces/sandbox/configmaps/${marker}`)) === 200

  test('each right of deploy/worker is used', async () => {
    for (let turns = 0; turns < 2; turns++) {
      const marker = await changeAll()
      await world.comesTo(isApplied(marker))
    }
    const unused = () => {
      const requests = auditEvents(log, WORKER).flatMap(requestOf)
      return rights.filter(right => !requests.some(request => covers(right, request))).map(nameOf)
    }
    await until(() => unused().length <= ELSEWHERE.length, 60_000)
    expect(unused()).toEqual(ELSEWHERE)
  }, 200_000)

  describe('without one of them the reason is in the log of the worker or on GitHub', () => {
    beforeAll(async () => {
      // it would give reads of some kinds a second time
      await world.cluster.request('DELETE', `${RBAC}/clusterrolebindings/bailiwick-drift`)
    })

    /** What an operator looks at, without quotes: in a comment names are code. */
    const shown = (): string => {
      const runs = ['acme/fleet', REPO].flatMap(repo =>
        world.github.checkRunsOf(repo, 'main').map(({ output }) => output),
      )
      return `${workers()
        .map(({ program }) => program.said())
        .join('')}${JSON.stringify(runs)}`.replaceAll(/[\\`"]/g, '')
    }
    /** What a worker asks for when it starts, and not while it works. */
    const isOfStart = ({ verb, resource }: Right) => resource === 'leases' || verb === 'list' || verb === 'watch'
    const restart = async () => {
      await Promise.all(workers().map(one => world.kubelet.stop(one)))
      await world.kubelet.start(SYSTEM, 'bailiwick-worker', { isAwaited: false })
    }

    test.each(rights.filter(right => !ELSEWHERE.includes(nameOf(right))).map(right => [nameOf(right), right] as const))(
      '%s',
      async (_, right) => {
        const { cluster } = world
        const give = await take(world, right)
        let marker = ''
        try {
          // it is made where there is none
          if (right.verb === 'create' && right.resource === 'leases') await cluster.request('DELETE', LEASE)
          if (isOfStart(right)) await restart()
          marker = await changeAll()
          const where = right.namespace === '*' ? 'at the cluster scope' : `in the namespace ${right.namespace}`
          const sentence = `cannot ${right.verb} resource ${right.resource} in API group ${right.group} `
          const reason = new RegExp(`${sentence}(?:${where}|in the namespace)`)
          await until(() => reason.test(shown()), 60_000)
        } finally {
          await give()
        }
        if (isOfStart(right)) {
          await restart()
          // applied by what runs now, so that the next change meets a worker that has read its inventories
          marker = await changeAll()
        }
        await world.comesTo(isApplied(marker))
      },
      200_000,
    )
  })
})

/** Takes one right away from the Role that gives it; resolves with what gives it back. */
async function take({ cluster }: DeployedWorld, right: Right): Promise<() => Promise<void>> {
  const { kind, metadata } = given.find(
    one => one.rules && rightsOf([one]).some(other => nameOf(other) === nameOf(right)),
  )!
  const within = kind === 'Role' ? `/namespaces/${metadata.namespace}/roles` : '/clusterroles'
  const path = `${RBAC}${within}/${metadata.name}`
  const { body } = await cluster.request('GET', path)
  const before = itemsAt(body, 'rules')
  const after = before.flatMap(rule => {
    const single = rightsOf([{ apiVersion: '', kind, metadata, rules: [rule as never] }])
    if (!single.some(other => nameOf(other) === nameOf(right))) return [rule]
    const verbs = itemsAt(rule, 'verbs').filter(verb => verb !== right.verb)
    return verbs.length === 0 ? [] : [{ ...(rule as { [field: string]: Json }), verbs }]
  })
  const set = async (rules: readonly Json[]) => {
    const patch = [{ op: 'replace', path: '/rules', value: rules as Json }]
    const { status, body: said } = await cluster.request('PATCH', path, patch, {
      contentType: 'application/json-patch+json',
    })
    if (status !== 200) throw new Error(`${path}: ${JSON.stringify(said)}`)
  }
  await set(after)
  return () => set(before)
}
