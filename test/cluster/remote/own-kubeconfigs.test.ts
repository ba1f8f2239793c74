import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect } from '../../../src/cluster/api-client.ts'
import type { ClusterClient } from '../../../src/cluster/client.ts'
import { mapAt, stringAt } from '../../../src/cluster/json.ts'
import { leasedClient } from '../../../src/cluster/lease.ts'
import { RemoteClients } from '../../../src/cluster/remote/remote-clients.ts'
import { DEFAULT_SETTINGS } from '../../../src/flux/apply-settings.ts'
import type { Json } from '../../../src/kube/node.ts'
import type { ApprovedNode } from '../../../src/verdict/approve.ts'
import { applyApproved } from '../../../workers/apply/apply-approved.ts'
import { targetOfNode } from '../../../workers/apply/apply-node.ts'
import { ClusterMemory } from '../../../workers/apply/cluster-memory.ts'
import { WatchedCluster } from '../../../workers/apply/watched-cluster.ts'
import { silentLog } from '../../repository/runner/silent-log.ts'
import { approvedNode, approvedOf } from '../approved-node.ts'
import {
  binding,
  type ClusterUnderTest,
  configMap,
  create,
  createTenant,
  get,
  haveAssets,
  startUnderTest,
} from '../cluster-under-test.ts'
import { type FaultProxy, startFaultProxy } from '../fault-proxy.ts'
import { kubeconfig, kubeconfigAt } from './remote-world.ts'

const HOUR = 3_600_000
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const SECRETS = '/api/v1/namespaces/apps/secrets'

/** What an account needs for its own kubeconfig, and nothing else. */
const OWN_RULES = (account: string) => [
  { apiGroups: [''], resources: ['serviceaccounts/token'], resourceNames: [account], verbs: ['create'] },
  {
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: [`${account}-kubeconfig`],
    verbs: ['get', 'create', 'patch'],
  },
]

describe.skipIf(!haveAssets())('kubeconfigs that the worker makes, on a real API server', () => {
  let home: ClusterUnderTest
  /** Before the API server, with its certificate: what Capsule's proxy is for a tenant, and where a worker is stopped. */
  let proxy: FaultProxy
  let between: FaultProxy
  let address: string
  let ca: string
  const directory = mkdtempSync(join(tmpdir(), 'bailiwick-kubeconfigs-'))
  let count = 0

  beforeAll(async () => {
    home = await startUnderTest()
    proxy = await startFaultProxy(home.server)
    between = await startFaultProxy(home.server)
    address = kubeconfigAt(proxy.kubeconfig).clusters[0]!.cluster.server
    ca = join(dirname(home.server.workerKubeconfig), 'certs', 'apiserver.crt')
    await createTenant(home.server, 'apps', 'other')
  }, 120_000)
  afterAll(async () => {
    await proxy?.close()
    await between?.close()
    await home?.stop()
    rmSync(directory, { recursive: true, force: true })
  })
  beforeEach(() => {
    for (const one of [proxy, between]) {
      one.moment = undefined
      one.rule = undefined
      one.reset()
    }
  })

  const listed = (more: object = {}, file = ca) => [
    { server: address, cluster: 'staging', ca: file, tokens: { lifetimeSeconds: 3600, audiences: [], ...more } },
  ]

  /** A new account with these rights, which may impersonate itself as Capsule's proxy asks. */
  async function account(rules = OWN_RULES): Promise<string> {
    const name = `gitops-${++count}`
    const metadata = { name }
    await create(home.server, '/api/v1/namespaces/apps/serviceaccounts', { metadata })
    const itself = { apiGroups: [''], resources: ['serviceaccounts'], resourceNames: [name], verbs: ['impersonate'] }
    const maps = { apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }
    const all = [...rules(name), itself, maps]
    await create(home.server, `${RBAC}/namespaces/apps/roles`, { metadata, rules: all })
    await create(home.server, `${RBAC}/namespaces/apps/rolebindings`, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: 'apps' }],
    })
    const review = { spec: { resourceAttributes: { namespace: 'apps', verb: 'get', resource: 'configmaps' } } }
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    // the authorizer hears of it after a moment
    await expect
      .poll(async () => (await home.server.request('POST', path, review, { impersonate: userOf(name) })).body, {
        timeout: 30_000,
      })
      .toMatchObject({ status: { allowed: true } })
    return name
  }

  const userOf = (name: string) => `system:serviceaccount:apps:${name}`
  const openAs = (client: ClusterClient, name: string, servers = listed(), now?: () => number) => {
    const remotes = new RemoteClients(client, servers, now)
    const kubeConfig = { kind: 'Secret', name: `${name}-kubeconfig`, key: 'kubeconfig' } as const
    const node = { namespace: 'apps', user: userOf(name), cluster: 'staging', kubeConfig }
    return { remotes, node, open: async () => (await remotes.open(node, true)).client }
  }
  const secretOf = (name: string) => get(home.server, `${SECRETS}/${name}-kubeconfig`)
  const textOf = (secret: Json | undefined, key = 'kubeconfig') =>
    Buffer.from(stringAt(secret, 'data', key), 'base64').toString()
  const tokenOf = (secret: Json | undefined): string => JSON.parse(textOf(secret)).users[0].user.token
  const review = async (token: string) =>
    (await home.server.request('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } })).body
  const namespaceUid = async (client: ClusterClient, name: string) =>
    (await client.request({ user: userOf(name) }, 'GET', '/api/v1/namespaces/apps/configmaps')).status

  test('is made as the account, with rights for exactly these names; it leads through the proxy', async () => {
    const name = await account()
    const client = await openAs(home.client, name).open()
    expect(await namespaceUid(client, name)).toBe(200)
    expect(proxy.seen.at(-1)).toMatchObject({ user: userOf(name) })

    const secret = await secretOf(name)
    expect(Object.keys(mapAt(secret, 'data'))).toEqual(['kubeconfig'])
    const config = JSON.parse(textOf(secret))
    expect(config).toMatchObject({
      'current-context': 'default',
      clusters: [{ name: 'default', cluster: { server: address } }],
      contexts: [{ name: 'default', context: { cluster: 'default', user: 'default', namespace: 'default' } }],
    })
    const trusted = Buffer.from(config.clusters[0].cluster['certificate-authority-data'], 'base64').toString()
    expect(trusted).toBe(readFileSync(ca, 'utf8'))
    const { exp, iat, ...claims } = JSON.parse(Buffer.from(tokenOf(secret).split('.')[1]!, 'base64url').toString())
    expect(exp - iat).toBe(3600)
    expect(claims['kubernetes.io'].secret).toEqual({
      name: `${name}-kubeconfig`,
      uid: stringAt(secret, 'metadata', 'uid'),
    })
    expect(await review(tokenOf(secret))).toMatchObject({ status: { user: { username: userOf(name) } } })
  })

  test('a token is worth nothing without its Secret', async () => {
    const name = await account()
    await openAs(home.client, name).open()
    const token = tokenOf(await secretOf(name))
    await home.server.request('DELETE', `${SECRETS}/${name}-kubeconfig`)
    await expect
      .poll(async () => stringAt(await review(token), 'status', 'user', 'username'), { timeout: 60_000, interval: 500 })
      .toBe('')
  })

  test('stays until two thirds of its life are over; then there is another token', async () => {
    const name = await account()
    let now = Date.now()
    const { open, remotes, node } = openAs(home.client, name, listed(), () => now)
    await open()
    const first = await secretOf(name)
    const again = await connect(binding('staging', between.kubeconfig))
    await openAs(again, name, listed(), () => now + 0.6 * HOUR).open()
    expect(between.seen.filter(({ path }) => path.includes(name)).map(({ method }) => method)).toEqual(['GET'])
    again.close()
    expect(remotes.own.isDue(node)).toBe(false)
    expect(remotes.own.nextInMs()).toBeGreaterThan(0.5 * HOUR)

    now += 0.7 * HOUR
    expect(remotes.own.isDue(node)).toBe(true)
    await open()
    const second = await secretOf(name)
    expect([tokenOf(second) === tokenOf(first), remotes.own.isDue(node)]).toEqual([false, false])
    expect(stringAt(second, 'metadata', 'uid')).toBe(stringAt(first, 'metadata', 'uid'))
    // what is still under way goes on with the former one
    expect(await review(tokenOf(first))).toMatchObject({ status: { authenticated: true } })
  })

  test.each<[string, (name: string) => Promise<void>, object]>([
    ['the certificates of the server', async () => {}, {}],
    ['the lifetime', async () => {}, { lifetimeSeconds: 7200 }],
    [
      'nothing, but somebody wrote a later end',
      name => annotate(name, 'bailiwick.dev/token-renew-at', '2199-01-01T00:00:00Z'),
      {},
    ],
    ['nothing, but somebody removed the end', name => annotate(name, 'bailiwick.dev/token-renew-at', null), {}],
  ])('is made again where this changes: %s', async (what, change, more) => {
    const name = await account()
    await openAs(home.client, name).open()
    const first = tokenOf(await secretOf(name))
    await change(name)
    const file = join(directory, `${name}.crt`)
    writeFileSync(file, `${readFileSync(ca, 'utf8')}\n`)
    await openAs(home.client, name, listed(more, what.startsWith('the cert') ? file : ca)).open()
    expect(tokenOf(await secretOf(name))).not.toBe(first)
  })

  const annotate = async (name: string, key: string, value: string | null) => {
    const contentType = 'application/merge-patch+json'
    const body = { metadata: { annotations: { [key]: value } } }
    await home.server.request('PATCH', `${SECRETS}/${name}-kubeconfig`, body, { contentType })
  }

  test.each([
    ['without our label', {}],
    ['with our label, and data that we did not write', { 'app.kubernetes.io/managed-by': 'bailiwick' }],
  ])("somebody else's Secret is used as it is: %s", async (_, labels) => {
    const name = await account()
    const { body } = await home.server.request('POST', `/api/v1/namespaces/apps/serviceaccounts/${name}/token`, {})
    const text = kubeconfig(address, { token: stringAt(body, 'status', 'token') })
    const metadata = { name: `${name}-kubeconfig`, labels }
    await create(home.server, SECRETS, { metadata, stringData: { kubeconfig: text } })
    const { open, remotes } = openAs(home.client, name)
    expect(await namespaceUid(await open(), name)).toBe(200)
    expect([textOf(await secretOf(name)), remotes.own.nextInMs()]).toEqual([text, undefined])
  })

  test('another name, another account, or no `tokens`: nothing is made', async () => {
    const name = await account()
    const { remotes, node } = openAs(home.client, name)
    for (const kubeConfig of [
      { ...node.kubeConfig, name: 'other-kubeconfig' },
      { ...node.kubeConfig, kind: 'ConfigMap' as const },
    ])
      await expect(remotes.open({ ...node, kubeConfig }, true)).rejects.toThrow(/does not exist|is forbidden/)
    await expect(remotes.open({ ...node, namespace: 'default' }, true)).rejects.toThrow('is forbidden')
    const [{ tokens: _, ...plain }] = listed() as [ReturnType<typeof listed>[0]]
    await expect(new RemoteClients(home.client, [plain]).open(node, true)).rejects.toThrow('does not exist')
    expect(await secretOf(name)).toBeUndefined()
  })

  test('a token that the server does not accept is replaced with the next try', async () => {
    const name = await account()
    const { open } = openAs(home.client, name)
    await open()
    const first = tokenOf(await secretOf(name))
    proxy.rule = () => ({ status: 401 })
    await expect(namespaceUid(await open(), name)).rejects.toThrow('does not accept its credentials')
    proxy.rule = undefined
    expect(await namespaceUid(await open(), name)).toBe(200)
    expect(tokenOf(await secretOf(name))).not.toBe(first)
  })

  test.each<[string, (account: string) => ReturnType<typeof OWN_RULES>, RegExp]>([
    ['to read the Secret', () => [], /secrets "gitops-\d+-kubeconfig" is forbidden.*cannot get/],
    ['to ask for a token', name => OWN_RULES(name).slice(1), /cannot create resource "serviceaccounts\/token"/],
    [
      'to write the Secret',
      name => OWN_RULES(name).map(rule => ({ ...rule, verbs: rule.verbs.filter(verb => verb !== 'patch') })),
      /cannot patch resource "secrets"/,
    ],
  ])('an account without the right %s: the Kustomization fails and says so', async (_, rules, expected) => {
    const name = await account(rules)
    await expect(openAs(home.client, name).open()).rejects.toThrow(expected)
    expect(proxy.seen).toEqual([])
  })

  test('stopped before and after each of its requests: the next worker comes to the same end', async () => {
    const steps = ['GET', 'PATCH', 'POST', 'PATCH']
    for (const [index] of steps.entries()) {
      for (const when of ['sent', 'answered'] as const) {
        const name = await account()
        const stopped = await connect(binding('staging', between.kubeconfig))
        between.reset()
        const isOurs = () => between.seen.filter(({ path }) => path.includes(name)).length
        between.moment = async (_number, moment) => (moment === when && isOurs() > index ? 'lost' : undefined)
        await expect(openAs(stopped, name).open()).rejects.toThrow()
        const made = between.seen.filter(({ path }) => path.includes(name)).map(({ method }) => method)
        // who reads may ask once more
        expect([made.slice(0, index + 1), new Set(made.slice(index))]).toEqual([
          steps.slice(0, index + 1),
          new Set([steps[index]]),
        ])
        stopped.close()
        between.moment = undefined

        expect(await namespaceUid(await openAs(home.client, name).open(), name)).toBe(200)
        expect(await review(tokenOf(await secretOf(name)))).toMatchObject({ status: { authenticated: true } })
      }
    }
  }, 60_000)

  test('no worker but the one that holds the Lease makes one', async () => {
    const name = await account()
    const lost = () => {
      throw new Error('the Lease is lost')
    }
    const client = leasedClient(home.client, { signal: new AbortController().signal, writeWithin: lost })
    await expect(openAs(client, name).open()).rejects.toThrow('the Lease is lost')
    expect(await secretOf(name)).toBeUndefined()
  })

  test('what the API server says about the Secret is not quoted', async () => {
    const name = await account()
    const client = await connect(binding('staging', between.kubeconfig))
    between.rule = ({ method, body }) => (method === 'PATCH' && body.includes('"data"') ? { status: 422 } : undefined)
    const failed = await openAs(client, name).open().catch(String)
    expect(failed).toContain(`Secret apps/${name}-kubeconfig: not written: HTTP status 422`)
    expect(failed).not.toMatch(/eyJ|injected/)
    client.close()
  })

  const helmRelease = (name: string, secretRef: Json, namespace = 'apps'): Json => ({
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    kind: 'HelmRelease',
    metadata: { name: `shop-${name}`, namespace },
    spec: { serviceAccountName: name, kubeConfig: { secretRef } },
  })
  const apply = async (node: ApprovedNode) => {
    const memory = new ClusterMemory({ remotes: new RemoteClients(home.client, listed()), patienceMs: 1000 })
    const [said] = await applyApproved(home.client, approvedOf([node]), AbortSignal.timeout(60_000), memory)
    return said!
  }

  test('for a HelmRelease of the account it is there before helm-controller sees it, under its key', async () => {
    const name = await account()
    const objects = [configMap('apps', `of-${name}`), helmRelease(name, { name: `${name}-kubeconfig` })]
    // the API server of this test has no HelmReleases: the node fails at it, after the Secret was made
    const said = await apply(approvedNode(userOf(name), name, objects))
    expect(said.objects.map(({ object, action }) => [object.kind, action])).toContainEqual(['HelmRelease', 'refused'])
    expect(Object.keys(mapAt(await secretOf(name), 'data'))).toEqual(['value'])
    // a Kustomization of the same account names another key: both hold the new token
    await openAs(home.client, name).open()
    const secret = await secretOf(name)
    expect([textOf(secret, 'value') === textOf(secret), textOf(secret)]).toEqual([
      true,
      expect.stringContaining('token'),
    ])
  })

  test('nothing changes in git: a run before its end makes another token for a settled node, and an earlier one does not', async () => {
    const name = await account()
    let now = Date.now()
    const client = await connect(binding('staging', home.server.workerKubeconfig))
    const settings = { client, drift: 'poll', fullPassMs: 100 * HOUR, pollMs: 100 * HOUR, log: silentLog } as const
    const cluster = new WatchedCluster({ ...settings, again: () => {}, kubeConfigs: listed(), now: () => now })
    const kubeConfig = { kind: 'Secret', name: `${name}-kubeconfig`, key: 'kubeconfig' } as const
    const objects = [configMap('apps', `of-${name}`)]
    const node = approvedNode(userOf(name), name, objects, { settings: { ...DEFAULT_SETTINGS, kubeConfig } })
    const run = async () => {
      const said = await cluster.run(approvedOf([node]), AbortSignal.timeout(60_000))
      expect(said.map(({ outcome, reason }) => [outcome, reason])).toEqual([['applied', undefined]])
      return tokenOf(await secretOf(name))
    }
    const first = await run()
    now += 0.6 * HOUR
    expect(await run()).toBe(first)
    now += 0.1 * HOUR
    expect(await run()).not.toBe(first)
    await cluster.close()
  })

  test('a held Kustomization gets none, also where its objects are taken over', async () => {
    const name = await account()
    const kubeConfig = { kind: 'Secret', name: `${name}-kubeconfig`, key: 'kubeconfig' } as const
    const node = approvedNode(userOf(name), name, [], { settings: { ...DEFAULT_SETTINGS, kubeConfig } })
    const { apply: _, ...approved } = approvedOf([node])
    const remotes = new RemoteClients(home.client, listed())
    const held = [{ node: node.key, reason: 'not approved' }]
    const said = await applyApproved(
      home.client,
      { ...approved, apply: [], held },
      AbortSignal.timeout(60_000),
      new ClusterMemory({ remotes }),
    )
    expect(said.map(({ outcome }) => outcome)).toEqual(['held'])
    await expect(targetOfNode(home.client, remotes, node)).rejects.toThrow('does not exist')
    expect(await secretOf(name)).toBeUndefined()
  })

  test('where it cannot be made, nothing of the node is applied, and its status says why', async () => {
    const name = await account(() => [])
    const objects = [configMap('apps', `of-${name}`)]
    const kubeConfig = { kind: 'Secret', name: `${name}-kubeconfig`, key: 'kubeconfig' } as const
    const said = await apply(
      approvedNode(userOf(name), name, objects, { settings: { ...DEFAULT_SETTINGS, kubeConfig } }),
    )
    expect(said).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('cannot get resource "secrets"') })
    expect(await get(home.server, `/api/v1/namespaces/apps/configmaps/of-${name}`)).toBeUndefined()
  })
})
