import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { jsonAt } from '../../../src/cluster/json.ts'
import type { Json } from '../../../src/kube/node.ts'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import type { startClusterWorkers } from '../../../workers/apply/run-in-cluster.ts'
import { definition } from '../../cluster/flux-kinds.ts'
import { startRegistry, type TestRegistry } from '../../cluster/oci/start-registry.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { sealDocument } from '../../flux/sops/seal-document.ts'
import { findProgram } from '../../repository/runner/programs.ts'
import { type InClusterWorld, openInCluster } from './in-cluster-world.ts'
import { becomeReady, live, liveStatus } from './live.ts'
import { deploymentFile } from './tenant-changes.ts'

const registryProgram = findProgram('registry')
const missing = findAssets() ? (registryProgram ? undefined : 'no registry') : NO_ASSETS
const FLEET = 'acme/fleet'
const TEAM = 'acme/dev-team'
const DEPLOYMENTS = '/apis/apps/v1/namespaces/apps/deployments'
const CONFIG_MAPS = '/api/v1/namespaces/apps/configmaps'
const RECIPIENT = 'age1l44xcng8dqj32nlv6d930qvvrny05hglzcv9qpc7kxjc6902ma4qufys29'
const IDENTITY = readFileSync(join(import.meta.dirname, '../../fixtures/sops/age.txt'), 'utf8')
const PASSWORD = 'hunter2-x7'

const kustomization = (name: string, more: string) => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ${name}, namespace: flux-system}
spec:
  interval: 1h
  path: ./${name}
  prune: true
  dependsOn: [{name: tenants}]
  serviceAccountName: kustomize-controller
  sourceRef: {kind: GitRepository, name: flux-system}
  ${more}
---
`
const configMap = (name: string, data: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: apps}\ndata: ${data}\n`
const WEB = configMap('web', '{from: registry}')
const fromRegistry = (host: string) => `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: web, namespace: apps}
spec: {interval: 1h, url: 'oci://${host}/dev/web', insecure: true, ref: {tag: stable}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: web, namespace: apps}
spec:
  interval: 1h
  path: ./
  prune: true
  wait: true
  serviceAccountName: dev-team
  sourceRef: {kind: OCIRepository, name: web}
`

/** The acme fleet, whose clusters know OCIRepository. */
function fleetAtFirst(): Record<string, string> {
  const list = 'infrastructure/kustomization.yaml'
  return {
    [list]: fleetFiles(FLEET)[list]!.replace('  - sandbox.yaml\n', '  - sandbox.yaml\n  - registries.yaml\n'),
    'infrastructure/registries.yaml': JSON.stringify(definition('source.toolkit.fluxcd.io', 'OCIRepository')),
  }
}

/** More for staging: an artifact of a registry, values of the cluster, an encrypted Secret, and another server. */
async function filesOfPull(host: string, is: string): Promise<Record<string, string>> {
  const list = 'tenants/staging/kustomization.yaml'
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: sealed, namespace: apps}\nstringData: {password: x}\n'
  const sealed = await sealDocument({ ...parse(secret), stringData: { password: PASSWORD } }, RECIPIENT)
  const from = '[{kind: ConfigMap, name: vars}, {kind: Secret, name: vars}]'
  return {
    [list]: fleetFiles(FLEET)[list]!.replace('resources:\n', 'resources:\n  - web.yaml\n'),
    'tenants/staging/web.yaml': fromRegistry(host),
    'clusters/staging/more.yaml':
      kustomization('edge', 'kubeConfig: {secretRef: {name: edge}}') +
      kustomization('valued', `postBuild: {substituteFrom: ${from}}`) +
      kustomization('sealed', 'decryption: {provider: sops, secretRef: {name: sops-age}}'),
    'edge/all.yaml': configMap('at-edge', `{is: ${is}}`),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: these are variables of Flux
    'valued/all.yaml': configMap('valued', "{is: 'so ${WORD} by ${WHO}'}"),
    'sealed/all.yaml': JSON.stringify(sealed),
  }
}

/** What an admin put on staging: a ConfigMap and Secrets that Kustomizations of the platform name. */
async function putOnCluster({ clusters }: InClusterWorld): Promise<void> {
  const [staging, production] = ['staging', 'production'].map(name => clusters.get(name)!.cluster)
  const admin = JSON.parse(readFileSync(production!.adminKubeconfig, 'utf8'))
  const kubeconfig = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'default' },
    clusters: [{ name: 'default', cluster: { server: admin.clusters[0].cluster.server } }],
    contexts: [{ name: 'default', context: { cluster: 'default', user: 'default' } }],
    users: [{ name: 'default', user: { token: admin.users[0].user.token } }],
  }
  const make = async (path: string, body: Json) => {
    const { status } = await staging!.request('POST', `/api/v1/namespaces/flux-system/${path}`, body)
    expect(status).toBe(201)
  }
  await make('configmaps', { metadata: { name: 'vars' }, data: { WORD: 'told' } })
  await make('secrets', { metadata: { name: 'vars' }, stringData: { WHO: 'ada' } })
  await make('secrets', { metadata: { name: 'edge' }, stringData: { value: JSON.stringify(kubeconfig) } })
  await make('secrets', { metadata: { name: 'sops-age' }, stringData: { 'age.agekey': IDENTITY } })
}

describe.skipIf(missing)(`two clusters with workers of their own${missing ? ` (${missing})` : ''}`, () => {
  let world: InClusterWorld
  let registry: TestRegistry
  /** Each attempt of a test has names of its own. */
  let attempts = 0
  const workers = new Map<string, ReturnType<typeof startClusterWorkers>>()
  const at = (name: string) => world.clusters.get(name)!
  const applied = (name: string, repo = TEAM) =>
    world.stage.github.checkRunsOf(repo, 'main').findLast(run => run.name === `bailiwick / apply (${name})`)
  const comments = (repo: string, pull: number): string[] =>
    world.stage.github
      .commentsOf(repo, pull)
      .flatMap(({ body }) => (body.startsWith('<!-- bailiwick:applied -->') ? [body] : []))
  const start = (name: string, more: Record<string, string> = {}) => {
    if (!workers.has(name)) workers.set(name, at(name).startWorker(more))
  }
  const stop = async (name: string) => {
    const worker = workers.get(name)
    workers.delete(name)
    await worker?.close()
  }
  const startAll = () => {
    for (const name of world.clusters.keys()) start(name)
  }
  const merge = async (repo: string, branch: string, files: Readonly<Record<string, string>>, as: string) => {
    const { github } = world.stage
    const number = github.propose({ repo, branch, files, as })
    await world.stage.settle()
    expect(github.merge({ repo, pull: number, as })).toMatchObject({ status: 200 })
    return number
  }
  const dataOf = async (name: string, path: string) => jsonAt(await live(at(name).cluster, path), 'data')

  beforeAll(async () => {
    registry = await startRegistry(registryProgram!)
    world = await openInCluster({
      names: ['staging', 'production'],
      fleet: fleetAtFirst(),
      later: await filesOfPull(registry.host, 'later'),
      settings: { OCI_HOSTS: `http://${registry.host}` },
      entry: (name, servers) => {
        const edge = servers.get('production')
        if (name !== 'staging' || !edge) return ''
        const ca = join(dirname(edge.workerKubeconfig), 'certs', 'apiserver.crt')
        return `    kubeConfigs: [{server: '${edge.url}', cluster: 'staging -> kubeconfig flux-system/edge', ca: ${ca}}]\n`
      },
    })
    await putOnCluster(world)
    await world.stage.settle()
  }, 180_000)
  afterAll(async () => {
    await world?.close()
    await registry?.close()
  })

  test('each worker applies to its own cluster, with the rights of `worker-rbac` alone', async () => {
    startAll()
    for (const name of world.clusters.keys()) {
      await world.comesTo(() => applied(name)?.conclusion === 'success')
      expect(await liveStatus(at(name).cluster, `${DEPLOYMENTS}/storefront`)).toBe(200)
    }
  }, 120_000)

  test('a merged pull request brings what a registry, the cluster, a kubeconfig and SOPS give, and is told so', async () => {
    startAll()
    const name = `web-${++attempts}`
    await registry.push('dev/web', 'stable', { 'web.yaml': deploymentFile(name, 'apps'), 'more.yaml': WEB })
    const pull = await merge(FLEET, name, await filesOfPull(registry.host, name), 'ada')
    const [staging, production] = [at('staging').cluster, at('production').cluster]
    await world.comesTo(() => comments(FLEET, pull).some(text => text.includes('its health checks still run')))
    expect(comments(FLEET, pull)[0]).toMatch(/⏳ \*\*\d+ of \d+ Kustomizations applied\*\*/)
    await becomeReady(staging, `${DEPLOYMENTS}/${name}`)
    await world.comesTo(() => comments(FLEET, pull).some(text => /✅ \*\*Applied: \d+ Kustomizations\*\*/.test(text)))
    expect(comments(FLEET, pull)).toHaveLength(1)
    expect(applied('staging', FLEET)?.conclusion).toBe('success')
    expect(await dataOf('staging', `${CONFIG_MAPS}/web`)).toEqual({ from: 'registry' })
    expect(await dataOf('staging', `${CONFIG_MAPS}/valued`)).toEqual({ is: 'so told by ada' })
    const password = Buffer.from(PASSWORD).toString('base64')
    expect(await dataOf('staging', '/api/v1/namespaces/apps/secrets/sealed')).toEqual({ password })
    expect(await dataOf('production', `${CONFIG_MAPS}/at-edge`)).toEqual({ is: name })
    expect(await liveStatus(staging, `${CONFIG_MAPS}/at-edge`)).toBe(404)
    expect(await liveStatus(production, `${CONFIG_MAPS}/valued`)).toBe(404)
    const said = JSON.stringify([comments(FLEET, pull), world.stage.github.checkRunsOf(FLEET, 'main')])
    for (const value of [PASSWORD, password, 'so told']) expect(said).not.toContain(value)
  }, 120_000)

  test('the key of one opens nothing of the other', async () => {
    for (const [own, other] of [
      ['staging', 'production'],
      ['production', 'staging'],
    ] as const) {
      const authorization = `Bearer ${readFileSync(at(own).keyFile, 'utf8').trim()}`
      const ask = (cluster: string, what: string, method: string) =>
        fetch(`${world.stage.site.url}/api/clusters/${cluster}/${what}`, { method, headers: { authorization } })
      expect((await ask(own, 'work', 'GET')).status).toBe(200)
      for (const [what, method] of [
        ['work', 'GET'],
        ['tokens', 'POST'],
        ['results', 'POST'],
      ] as const)
        expect((await ask(other, what, method)).status, `${own} asks ${other} for ${what}`).toBe(401)
    }
  })

  test('one that is down delays nobody, and is told as it stands; when it is back, one comment has both', async () => {
    startAll()
    await stop('production')
    const report = `report-${++attempts}`
    const kustomized = fleetFiles(TEAM)['base/kustomization.yaml']!
    const pull = await merge(
      TEAM,
      report,
      {
        'base/kustomization.yaml': kustomized.replace('  - widget.yaml\n', '  - widget.yaml\n  - report.yaml\n'),
        'base/report.yaml': deploymentFile(report),
      },
      'dora',
    )
    const said = () => comments(TEAM, pull).join()
    await world.comesTo(() => said().includes('- `staging`: 1 applied'))
    expect(await liveStatus(at('production').cluster, `${DEPLOYMENTS}/${report}`)).toBe(404)
    expect(said()).not.toContain('- `production`: 1 applied')
    start('production')
    await world.comesTo(() => said().includes('- `production`: 1 applied'))
    expect(said()).toContain('- `staging`: 1 applied')
    for (const name of world.clusters.keys())
      expect(await liveStatus(at(name).cluster, `${DEPLOYMENTS}/${report}`)).toBe(200)
    expect(comments(TEAM, pull)).toHaveLength(1)
  }, 120_000)

  test('a worker without OCI_HOSTS holds what comes from a registry, and tells so', async () => {
    await stop('staging')
    start('staging', { OCI_HOSTS: '' })
    const is = `without-${++attempts}`
    await registry.push('dev/web', 'stable', { 'more.yaml': configMap('web', `{from: ${is}}`) })
    world.stage.github.push({ repo: FLEET, files: { 'edge/all.yaml': configMap('at-edge', `{is: ${is}}`) }, as: 'ada' })
    await world.comesTo(
      () => applied('staging', FLEET)?.output?.summary?.includes('its source is not visible') === true,
    )
    expect(await dataOf('staging', `${CONFIG_MAPS}/web`)).toEqual({ from: 'registry' })
  }, 90_000)
})
