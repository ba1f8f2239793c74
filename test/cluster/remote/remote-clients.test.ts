import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { jsonAt, stringAt } from '../../../src/cluster/json.ts'
import { DEFAULT_SETTINGS } from '../../../src/flux/apply-settings.ts'
import type { AppliedNode } from '../../../src/report/apply-report.ts'
import { approvedNode } from '../approved-node.ts'
import { configMap, create, get, haveAssets } from '../cluster-under-test.ts'
import {
  byProxy,
  EDGE,
  kubeconfig,
  kubeconfigAt,
  memoryOf,
  onEdge,
  type RemoteWorld,
  run,
  SECRET,
  startStranger,
  startWorld,
  write,
  writeBeside,
} from './remote-world.ts'

const CONFIGMAPS = '/api/v1/namespaces/apps/configmaps'
const actions = (said: readonly AppliedNode[]) =>
  said.map(({ outcome, objects }) => [outcome, ...objects.map(({ action }) => action)])
const reasons = (said: readonly AppliedNode[]) => said.map(({ outcome, reason = '' }) => `${outcome}: ${reason}`)

describe.skipIf(!haveAssets())('Kustomizations with a kubeConfig, on two real API servers', () => {
  let world: RemoteWorld

  beforeAll(async () => {
    world = await startWorld()
    // as `bailiwick worker-rbac` prints it
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/apps'
    await create(world.home.server, `${rbac}/roles`, {
      metadata: { name: 'kubeconfigs' },
      rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['edge'], verbs: ['get'] }],
    })
    await create(world.home.server, `${rbac}/rolebindings`, {
      metadata: { name: 'kubeconfigs' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'kubeconfigs' },
      subjects: [{ kind: 'User', name: 'bailiwick', apiGroup: 'rbac.authorization.k8s.io' }],
    })
  }, 120_000)
  afterAll(() => world?.stop())
  beforeEach(async () => {
    world.proxy.rule = undefined
    world.edgeProxy.rule = undefined
    await write(world, 'edge', { value: kubeconfig(world.edgeAddress, { token: world.edgeToken }) })
    await write(world, 'gitops-kubeconfig', { kubeconfig: kubeconfig(world.homeAddress, { token: world.token }) })
    world.proxy.seen.length = 0
    world.edgeProxy.seen.length = 0
  })

  const atHome = (name: string) => get(world.home.server, `${CONFIGMAPS}/${name}`)
  const atEdge = (name: string) => get(world.edge, `${CONFIGMAPS}/${name}`)

  test('applied where the kubeConfig leads, as whom it says; remembered, pruned and ended from home', async () => {
    const memory = memoryOf(world)
    const [one, two] = [configMap('apps', 'edge-one'), configMap('apps', 'edge-two')]
    expect(actions(await run(world, [onEdge('edge', [one, two])], memory))).toEqual([['applied', 'created', 'created']])
    expect(await atEdge('edge-one')).toBeDefined()
    expect(await atHome('edge-one')).toBeUndefined()
    expect(new Set(world.edgeProxy.seen.map(({ user }) => user))).toEqual(new Set(['']))

    world.edgeProxy.seen.length = 0
    expect(actions(await run(world, [onEdge('edge', [one, two])], memory))).toEqual([
      ['applied', 'unchanged', 'unchanged'],
    ])
    expect(world.edgeProxy.seen).toEqual([])

    // a new process knows it too
    const anew = memoryOf(world)
    const less = await run(world, [onEdge('edge', [one], { revisionSet: 'two' })], anew)
    expect(actions(less)).toEqual([['applied', 'unchanged', 'pruned']])
    expect(await atEdge('edge-two')).toBeUndefined()

    expect(actions(await run(world, [], memoryOf(world)))).toEqual([['applied', 'pruned']])
    expect(await atEdge('edge-one')).toBeUndefined()
  })

  test('with an account, that one is impersonated by the credentials of the file, and its rights there count', async () => {
    const more = { user: world.user, impersonated: true }
    const said = await run(world, [onEdge('as', [configMap('apps', 'edge-as')], more)], memoryOf(world))
    expect(actions(said)).toEqual([['applied', 'created']])
    const users = world.edgeProxy.seen.filter(({ path }) => path.includes('edge-as')).map(({ user }) => user)
    expect(new Set(users)).toEqual(new Set([world.user]))
    const other = await run(
      world,
      [onEdge('as', [configMap('default', 'edge-as')], { ...more, revisionSet: 'two' })],
      memoryOf(world),
    )
    expect(other[0]!.objects[0]!.message).toMatch(/dev-team.*cannot/)
    await run(world, [], memoryOf(world))
  })

  test('a proxy of the cluster itself, as Capsule has it: the tenant of its token, impersonating itself', async () => {
    const memory = memoryOf(world)
    const said = await run(world, [byProxy(world, 'capsule', [configMap('apps', 'by-proxy')])], memory)
    expect(actions(said)).toEqual([['applied', 'created']])
    expect(await atHome('by-proxy')).toBeDefined()
    expect(world.proxy.seen.some(({ method, user }) => method === 'PATCH' && user === world.user)).toBe(true)
    // it is the same cluster: without the kubeConfig nothing is left behind
    const plain = approvedNode(world.user, 'capsule', [configMap('apps', 'direct')])
    const after = await run(world, [plain], memory)
    expect(actions(after)).toEqual([['applied', 'created', 'pruned']])
    expect(await atHome('by-proxy')).toBeUndefined()
    await run(world, [], memory)
  })

  test('the rights are those of the file: who may not impersonate on the other side applies nothing', async () => {
    const path = '/api/v1/namespaces/apps/serviceaccounts'
    await create(world.home.server, path, { metadata: { name: 'weak' } })
    const { body } = await world.home.server.request('POST', `${path}/weak/token`, {})
    const token = stringAt(body, 'status', 'token')
    await write(world, 'gitops-kubeconfig', { kubeconfig: kubeconfig(world.homeAddress, { token }) })
    const said = await run(world, [byProxy(world, 'weak', [configMap('apps', 'weak')])], memoryOf(world))
    expect(said[0]!.objects[0]!.message).toMatch(/weak.*cannot impersonate/)
    expect(await atHome('weak')).toBeUndefined()
  })

  test('the Secret is read as the account of the Kustomization: without the right to read it, nothing is called', async () => {
    const path = '/api/v1/namespaces/apps/serviceaccounts'
    await create(world.home.server, path, { metadata: { name: 'blind' } })
    const user = 'system:serviceaccount:apps:blind'
    const said = await run(world, [byProxy(world, 'blind', [configMap('apps', 'blind')], { user })], memoryOf(world))
    expect(reasons(said)[0]).toMatch(/^failed: secrets "gitops-kubeconfig" is forbidden/)
    expect(world.proxy.seen).toEqual([])
  })

  test('rotated credentials are used with the next apply, and only that node fails meanwhile', async () => {
    const memory = memoryOf(world)
    const nodes = (text: string) => [
      byProxy(world, 'rotating', [configMap('apps', 'rotating', { text })], { revisionSet: text }),
      approvedNode(world.user, 'beside', [configMap('apps', 'beside', { text })], { revisionSet: text }),
    ]
    await write(world, 'gitops-kubeconfig', { kubeconfig: kubeconfig(world.homeAddress, { token: 'old-token' }) })
    const before = await run(world, nodes('one'), memory)
    expect(reasons(before)).toEqual([
      'failed: Secret apps/gitops-kubeconfig: its API server does not accept its credentials',
      'applied: ',
    ])
    await write(world, 'gitops-kubeconfig', { kubeconfig: kubeconfig(world.homeAddress, { token: world.token }) })
    expect(reasons(await run(world, nodes('two'), memory))).toEqual(['applied: ', 'applied: '])
    await run(world, [], memory)
  })

  test('another cluster behind the kubeConfig: what is on the former one stays, and that is said', async () => {
    const memory = memoryOf(world)
    const apply = (objects: string[], more: object = {}) =>
      onEdge(
        'moved',
        objects.map(name => configMap('apps', name)),
        more,
      )
    await run(world, [apply(['moved-one', 'moved-two'])], memory)
    const user = world.user
    const home = approvedNode(user, 'moved', [configMap('apps', 'moved-one')], { revisionSet: 'two' })
    const said = await run(world, [home], memory)
    expect(said).toMatchObject([
      { outcome: 'applied', note: expect.stringContaining(`2 objects stay on ${world.edgeAddress}`) },
    ])
    expect(actions(said)).toEqual([['applied', 'created']])
    expect(await atEdge('moved-two')).toBeDefined()
    await run(world, [], memory)
    expect(await atEdge('moved-two')).toBeDefined()
    expect(await atHome('moved-one')).toBeUndefined()
  })

  test('health is looked at where the objects are', async () => {
    const settings = { ...DEFAULT_SETTINGS, kubeConfig: SECRET, wait: true }
    const said = await run(world, [onEdge('healthy', [configMap('apps', 'healthy')], { settings })], memoryOf(world))
    expect(reasons(said)).toEqual(['applied: '])
    await run(world, [], memoryOf(world))
  })

  test('a token by the generic provider, for an account of the namespace', async () => {
    const data = {
      provider: 'generic',
      address: world.homeAddress,
      audiences: 'https://127.0.0.1',
      serviceAccountName: 'dev-team',
    }
    await write(world, 'by-token', data, 'configmaps')
    const settings = { ...DEFAULT_SETTINGS, kubeConfig: { kind: 'ConfigMap', name: 'by-token', key: '' } } as const
    const node = (text: string) =>
      byProxy(world, 'by-token', [configMap('apps', 'tokened', { text })], { settings, revisionSet: text })
    const memory = memoryOf(world)
    expect(actions(await run(world, [node('one')], memory))).toEqual([['applied', 'created']])
    expect(jsonAt(await atHome('tokened'), 'data', 'text')).toBe('one')
    expect(actions(await run(world, [node('two')], memory))).toEqual([['applied', 'configured']])
    await run(world, [], memory)
    for (const [change, expected] of [
      [{ provider: 'aws' }, 'the provider "aws" is not supported'],
      [{ provider: '' }, 'the provider "" is not supported'],
      [{ address: 'http://169.254.169.254' }, 'key address: not allowed'],
      [{ address: 'https://169.254.169.254' }, 'is not allowed for what is evaluated as staging'],
      [{ serviceAccountName: '../../x' }, 'not the name of a service account'],
      [{ serviceAccountName: 'nobody' }, 'there is no service account apps/nobody'],
    ] as const) {
      await write(world, 'by-token', { ...data, ...change }, 'configmaps')
      expect(reasons(await run(world, [node('three')], memoryOf(world)))[0]).toContain(expected)
    }
  })

  describe('hostile', () => {
    const failed = async (text: string, listed = world.listed(), more: object = {}) => {
      await write(world, 'gitops-kubeconfig', { kubeconfig: text })
      const said = await run(
        world,
        [byProxy(world, 'hostile', [configMap('apps', 'hostile')], more)],
        memoryOf(world, listed),
      )
      expect(await atHome('hostile')).toBeUndefined()
      return reasons(said)[0]
    }

    test('an address that is not listed is not called, however it is written', async () => {
      const stranger = await startStranger(world.homeCa)
      const port = new URL(stranger.address).port
      const user = { token: world.token }
      for (const address of [
        stranger.address,
        `https://localhost:${port}`,
        `${world.homeAddress}/../${port}`,
        `${world.homeAddress}/k8s/clusters/other`,
        'https://169.254.169.254/latest/meta-data',
        'https://[::1]:443',
        'https://kubernetes.default.svc',
        world.edgeAddress,
      ])
        expect(await failed(kubeconfig(address, user))).toMatch(/is not allowed for what is evaluated as staging/)
      for (const address of [`https://x@127.0.0.1:${port}`, `http://127.0.0.1:${port}`, `//127.0.0.1:${port}`])
        expect(await failed(kubeconfig(address, user))).toMatch(/server: not allowed/)
      const proxied = kubeconfig(world.homeAddress, user, { 'proxy-url': stranger.address })
      expect(await failed(proxied)).toMatch(/proxy-url: would send requests to another address/)
      expect(stranger.came).toEqual([])
      expect(world.proxy.seen).toEqual([])
      expect(world.edgeProxy.seen).toEqual([])
      stranger.close()
    })

    test('nothing is listed: nothing is read and nothing called', async () => {
      const expected =
        'failed: Secret apps/gitops-kubeconfig: no API server is allowed for what is evaluated as staging'
      expect(await failed(kubeconfig(world.homeAddress, { token: world.token }), [])).toBe(expected)
      expect(world.proxy.seen).toEqual([])
    })

    test('a redirect of a listed server is not followed', async () => {
      const stranger = await startStranger(world.homeCa)
      for (const status of [301, 302, 307, 308]) {
        world.proxy.rule = () => ({ status, location: `${stranger.address}/` })
        expect(await failed(kubeconfig(world.homeAddress, { token: world.token }))).toMatch(/^failed: /)
      }
      expect(stranger.came).toEqual([])
      stranger.close()
    })

    test('another certificate is not trusted, whatever the kubeconfig brings', async () => {
      const own = { 'certificate-authority-data': Buffer.from('x').toString('base64') }
      const listed = world.listed().map(one => ({ ...one, ca: world.edgeCa }))
      expect(await failed(kubeconfig(world.homeAddress, { token: world.token }, own), listed)).toMatch(/certificate/)
      expect(world.proxy.seen).toEqual([])
    })

    test('a file of certificates that is empty or gone trusts nobody', async () => {
      const text = kubeconfig(world.homeAddress, { token: world.token })
      for (const ca of [writeBeside(world.homeCa, 'empty.crt', ''), `${world.homeCa}.gone`])
        expect(await failed(text, [{ ...world.listed()[0]!, ca }])).toMatch(/holds no certificate|cannot be read/)
      expect(world.proxy.seen).toEqual([])
    })

    test('a name for the certificate is what the operator lists, or nothing', async () => {
      const text = kubeconfig(
        world.homeAddress,
        { token: world.token },
        { 'tls-server-name': 'kubernetes.default.svc' },
      )
      expect(await failed(text)).toMatch(/tls-server-name: not allowed/)
      expect(world.proxy.seen).toEqual([])
    })

    test('a server that is this cluster cannot pass as another one, nor another one as this', async () => {
      const text = kubeconfig(world.homeAddress, { token: world.token })
      const asOther = [{ ...world.listed()[0]!, cluster: EDGE }]
      const admin = kubeconfig(world.homeAddress, {
        token: kubeconfigAt(world.home.server.adminKubeconfig).users[0]!.user.token,
      })
      await write(world, 'edge', { value: admin })
      const said = await run(world, [onEdge('hostile', [configMap('apps', 'hostile')])], memoryOf(world, asOther))
      expect(reasons(said)[0]).toMatch(
        /leads to the cluster itself, and it was evaluated as staging -> kubeconfig apps\/edge/,
      )
      expect(await failed(text, asOther)).toMatch(/no API server is allowed for what is evaluated as staging/)
      const edgeAsHome = [{ ...world.listed()[1]!, cluster: 'staging' }]
      const edge = kubeconfig(world.edgeAddress, { token: world.edgeToken })
      expect(await failed(edge, edgeAsHome)).toMatch(/leads to another cluster, and it was evaluated as staging/)
      expect(await atEdge('hostile')).toBeUndefined()
    })

    test("the worker's own credentials are no kubeconfig of a tenant", async () => {
      const token = kubeconfigAt(world.home.server.workerKubeconfig).users[0]!.user.token
      expect(await failed(kubeconfig(world.homeAddress, { token }))).toMatch(
        /holds the credentials of the worker itself/,
      )
      expect(world.proxy.seen.filter(({ method }) => method === 'PATCH')).toEqual([])
    })

    test("the worker's own namespace is no target, by whatever way", async () => {
      const admin = kubeconfigAt(world.home.server.adminKubeconfig).users[0]!.user.token
      await write(world, 'gitops-kubeconfig', { kubeconfig: kubeconfig(world.homeAddress, { token: admin }) })
      const node = byProxy(world, 'hostile', [configMap('bailiwick-system', 'hostile')])
      const said = await run(world, [node], memoryOf(world))
      expect(said[0]!.objects[0]!.message).toMatch(/bailiwick-system is the worker's own namespace/)
    })

    test('a Secret that holds no kubeconfig, or under another key', async () => {
      expect(await failed('x')).toMatch(/Secret apps\/gitops-kubeconfig, key kubeconfig: not a kubeconfig/)
      await write(world, 'gitops-kubeconfig', { value: 'x' })
      const said = await run(world, [byProxy(world, 'hostile', [])], memoryOf(world))
      expect(reasons(said)[0]).toMatch(/does not have the key kubeconfig/)
      await world.home.server.request('DELETE', '/api/v1/namespaces/apps/secrets/gitops-kubeconfig')
      expect(reasons(await run(world, [byProxy(world, 'hostile', [])], memoryOf(world)))[0]).toMatch(/does not exist/)
    })

    test('a server that is away stops only who needs it', async () => {
      world.edgeProxy.rule = () => 'reset'
      const nodes = [
        onEdge('away', [configMap('apps', 'away')]),
        approvedNode(world.user, 'there', [configMap('apps', 'there')]),
      ]
      const said = await run(world, nodes, memoryOf(world))
      expect(said.map(({ outcome }) => outcome)).toEqual(['failed', 'applied'])
      await run(world, [], memoryOf(world))
    })

    test('an ended node waits for its kubeConfig: nothing of it is looked for on the home cluster', async () => {
      const memory = memoryOf(world)
      await run(world, [onEdge('ended', [configMap('apps', 'ended')])], memory)
      await create(world.home.server, CONFIGMAPS, configMap('apps', 'ended'))
      await world.home.server.request('DELETE', '/api/v1/namespaces/apps/secrets/edge')
      const said = await run(world, [], memoryOf(world))
      expect(reasons(said)).toEqual(['failed: Secret apps/edge, which spec.kubeConfig names: does not exist'])
      expect(await atHome('ended')).toBeDefined()
      expect(await atEdge('ended')).toBeDefined()
      await write(world, 'edge', { value: kubeconfig(world.edgeAddress, { token: world.edgeToken }) })
      await run(world, [], memoryOf(world))
      expect(await atEdge('ended')).toBeUndefined()
    })
  })
})
