import { createPrivateKey, sign } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import type { ClusterBinding } from '../../../src/cluster/clusters-file.ts'
import { diagnoseClusters } from '../../../src/surface/doctor/diagnose-clusters.ts'
import { startCluster, type TestCluster } from '../../../tools/envtest/start.ts'
import { binding, create, createTenant, haveAssets } from '../../cluster/cluster-under-test.ts'
import { installKustomizations } from '../../cluster/flux-kinds.ts'

const KUSTOMIZATIONS = '/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/apps/kustomizations'

interface Kubeconfig {
  clusters: { cluster: Record<string, string> }[]
  users: { user: Record<string, string> }[]
}

describe.skipIf(!haveAssets())('the clusters of a clusters file, on a real API server', () => {
  let server: TestCluster
  let folder: string
  let count = 0
  beforeAll(async () => {
    server = await startCluster()
    folder = dirname(server.workerKubeconfig)
  })
  afterAll(() => server?.stop())

  /** The worker's kubeconfig with a change. */
  function changed(edit: (config: Kubeconfig) => void): string {
    const config = parse(readFileSync(server.workerKubeconfig, 'utf8'))
    edit(config)
    const path = join(folder, `changed-${count++}.kubeconfig`)
    writeFileSync(path, stringify(config))
    return path
  }

  /** `state: message` of each result; no text of any holds a credential. */
  async function diagnosed(kubeconfig: string, more: Partial<ClusterBinding> = {}) {
    const found = await diagnoseClusters([{ ...binding('staging', kubeconfig), ...more }])
    const { token } = parse(readFileSync(server.workerKubeconfig, 'utf8')).users[0].user
    expect(token).toMatch(/^\S{16,}$/)
    expect(JSON.stringify(found)).not.toContain(token)
    expect(found.filter(({ state, fix }) => (state === 'ok') !== (fix === ''))).toEqual([])
    return { said: found.map(({ state, message }) => `${state}: ${message}`), fixes: found.map(({ fix }) => fix) }
  }

  test('a cluster without Flux is reachable, and lacks its kinds', async () => {
    const { said, fixes } = await diagnosed(server.workerKubeconfig)
    expect(said).toEqual([
      expect.stringMatching(/^ok: cluster staging: Kubernetes v1\.\d+\.\d+ answers, the worker is bailiwick$/),
      'ok: cluster staging: the worker has the rights that it needs in every fleet',
      'weak: cluster staging: the API server does not know Kustomizations of Flux',
    ])
    expect(fixes.at(-1)).toContain("Install Flux's CustomResourceDefinitions")
  })

  describe('with Kustomizations', () => {
    beforeAll(async () => {
      await installKustomizations(server)
      await createTenant(server, 'apps', 'dev-team')
      const spec = { serviceAccountName: 'dev-team', path: './', prune: true, interval: '1m' }
      await create(server, KUSTOMIZATIONS, {
        apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
        kind: 'Kustomization',
        metadata: { name: 'dev-team' },
        spec: { ...spec, sourceRef: { kind: 'GitRepository', name: 'dev-team' } },
      })
    })

    test('the worker that is set up as documented has nothing to do', async () => {
      const { said } = await diagnosed(server.workerKubeconfig)
      expect(said).toEqual([
        expect.stringContaining('the worker is bailiwick'),
        'ok: cluster staging: the worker has the rights that it needs in every fleet',
        'ok: cluster staging: the worker may impersonate the account that its Kustomizations name, and write their status in the namespace',
      ])
    })

    test('a user without roles lacks each right, by the answer of the API server', async () => {
      const token = await create(server, '/api/v1/namespaces/apps/serviceaccounts/dev-team/token', {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: 600 },
      })
      const own = (token as { status: { token: string } }).status.token
      const path = changed(config => {
        config.users[0]!.user = { token: own }
      })
      const { said, fixes } = await diagnosed(path)
      expect(said).toEqual([
        expect.stringContaining('the worker is system:serviceaccount:apps:dev-team'),
        expect.stringMatching(
          /^wrong: cluster staging: system:serviceaccount:apps:dev-team is not allowed to list deployments\.apps, watch deployments\.apps, .* and \d+ more$/,
        ),
      ])
      expect(fixes[1]).toBe('Bind this user to the roles that bailiwick worker-rbac FLEET --cluster staging prints.')
      expect(JSON.stringify(said)).not.toContain(own)
    })

    test('one account that may not be impersonated is named', async () => {
      const rules = [
        { apiGroups: ['apps'], resources: ['deployments'], verbs: ['list', 'watch'] },
        { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['list'] },
        { apiGroups: [''], resources: ['namespaces'], verbs: ['get'] },
        { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'create', 'update', 'delete'] },
        { apiGroups: ['kustomize.toolkit.fluxcd.io'], resources: ['*'], verbs: ['*'] },
      ]
      const rbac = '/apis/rbac.authorization.k8s.io/v1'
      await create(server, `${rbac}/clusterroles`, { metadata: { name: 'reader' }, rules })
      await create(server, `${rbac}/clusterrolebindings`, {
        metadata: { name: 'reader' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
        subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'apps' }],
      })
      await create(server, '/api/v1/namespaces/apps/serviceaccounts', { metadata: { name: 'reader' } })
      const token = await create(server, '/api/v1/namespaces/apps/serviceaccounts/reader/token', {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: {},
      })
      const path = changed(config => {
        config.users[0]!.user = { token: (token as { status: { token: string } }).status.token }
      })
      const { said } = await diagnosed(path)
      expect(said.slice(1)).toEqual([
        'ok: cluster staging: the worker has the rights that it needs in every fleet',
        'wrong: cluster staging: system:serviceaccount:apps:reader is not allowed to impersonate apps/dev-team',
      ])
    })

    test('a kustomize-controller that is active is named', async () => {
      const labels = { app: 'kustomize-controller' }
      const containers = [{ name: 'manager', image: 'x' }]
      const path = '/apis/apps/v1/namespaces/apps/deployments'
      await create(server, path, {
        metadata: { name: 'kustomize-controller' },
        spec: {
          replicas: 1,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers } },
        },
      })
      const { said } = await diagnosed(server.workerKubeconfig)
      expect(said.at(-1)).toMatch(/^wrong: cluster staging.*kustomize-controller/)
      await server.request('DELETE', `${path}/kustomize-controller`)
    })

    test('a right that is missing in the last of 300 namespaces is found', async () => {
      const rbac = '/apis/rbac.authorization.k8s.io/v1'
      const roleRef = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name })
      const subjects = [{ kind: 'ServiceAccount', name: 'counted', namespace: 'apps' }]
      const flux = 'kustomize.toolkit.fluxcd.io'
      const rules = [
        { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'] },
        { apiGroups: [flux], resources: ['kustomizations'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: ['apps'], resources: ['deployments'], verbs: ['list', 'watch'] },
        { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['list'] },
        { apiGroups: [''], resources: ['namespaces', 'configmaps'], verbs: ['*'] },
      ]
      const status = { apiGroups: [flux], resources: ['kustomizations/status'], verbs: ['patch'] }
      await create(server, `${rbac}/clusterroles`, { metadata: { name: 'counted' }, rules })
      await create(server, `${rbac}/clusterroles`, { metadata: { name: 'status' }, rules: [status] })
      await create(server, `${rbac}/clusterrolebindings`, {
        ...{ metadata: { name: 'counted' }, roleRef: roleRef('counted'), subjects },
      })
      const account = await create(server, '/api/v1/namespaces/apps/serviceaccounts', { metadata: { name: 'counted' } })
      expect(account).toBeDefined()
      const mayWriteIn = (namespace: string) =>
        create(server, `${rbac}/namespaces/${namespace}/rolebindings`, {
          ...{ metadata: { name: 'status' }, roleRef: roleRef('status'), subjects },
        })
      const namespaces = Array.from({ length: 300 }, (_, index) => `many-${String(index).padStart(3, '0')}`)
      const spec = { path: './', prune: true, interval: '1m', sourceRef: { kind: 'GitRepository', name: 'one' } }
      await mayWriteIn('apps')
      for (const namespace of namespaces) {
        await create(server, '/api/v1/namespaces', { metadata: { name: namespace } })
        await create(server, KUSTOMIZATIONS.replace('/apps/', `/${namespace}/`), {
          ...{ apiVersion: `${flux}/v1`, kind: 'Kustomization', metadata: { name: 'one' } },
          spec: { ...spec, serviceAccountName: 'one' },
        })
        if (namespace !== 'many-299') await mayWriteIn(namespace)
      }
      const token = await create(server, '/api/v1/namespaces/apps/serviceaccounts/counted/token', {
        ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
      })
      const path = changed(config => {
        config.users[0]!.user = { token: (token as { status: { token: string } }).status.token }
      })
      const may = async () => (await diagnosed(path)).said.at(-1)
      expect(await may()).toBe(
        'wrong: cluster staging: system:serviceaccount:apps:counted is not allowed to patch kustomizations/status in many-299',
      )
      await mayWriteIn('many-299')
      expect(await may()).toBe(
        'ok: cluster staging: the worker may impersonate each of the 301 accounts that its Kustomizations name, and write their status in each of the 301 namespaces',
      )
    }, 120_000)
  })

  test('a certificate of another authority', async () => {
    const path = changed(config => {
      delete config.clusters[0]!.cluster['certificate-authority']
      config.clusters[0]!.cluster['certificate-authority-data'] = Buffer.from(rootCertificates[0]!).toString('base64')
    })
    const { said, fixes } = await diagnosed(path)
    expect(said).toEqual([expect.stringMatching(/^wrong: cluster staging, GET \/version: .*certificate/)])
    expect(fixes).toEqual([
      'Put the certificate authority of its API server into certificate-authority-data of the kubeconfig.',
    ])
  })

  test('a token that expired', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const past = Math.floor(Date.now() / 1000) - 600
    const claims = { iss: 'https://127.0.0.1', aud: ['https://127.0.0.1'], sub: 'system:serviceaccount:default:x' }
    const text = `${part({ alg: 'RS256' })}.${part({ ...claims, iat: past - 3600, exp: past })}`
    const key = createPrivateKey(readFileSync(join(folder, 'sa.key')))
    const signature = sign('sha256', Buffer.from(text), key).toString('base64url')
    const path = changed(config => {
      config.users[0]!.user = { token: `${text}.${signature}` }
    })
    const { said, fixes } = await diagnosed(path)
    expect(said).toEqual(["wrong: cluster staging does not accept the worker's credentials: Unauthorized"])
    expect(fixes).toEqual(['Renew the token or certificate of the kubeconfig that clusters.yaml names.'])
    expect(JSON.stringify(said)).not.toContain(signature)
  })

  test('a server that does not listen', async () => {
    const path = changed(config => {
      config.clusters[0]!.cluster.server = 'https://127.0.0.1:1'
    })
    const { said, fixes } = await diagnosed(path)
    expect(said).toEqual(['wrong: cluster staging, GET /version: connect ECONNREFUSED 127.0.0.1:1'])
    expect(fixes).toEqual(['Check `server` of the kubeconfig, and that this machine reaches it.'])
  })

  test('one bad cluster of several does not hide the others', async () => {
    const found = await diagnoseClusters([
      binding('lost', join(folder, 'absent.kubeconfig')),
      { ...binding('gated', server.workerKubeconfig), mode: 'gate' },
      binding('staging', server.workerKubeconfig),
    ])
    expect(found.slice(0, 3).map(({ state, message }) => `${state}: ${message}`)).toEqual([
      expect.stringMatching(/^wrong: cluster lost, .*absent\.kubeconfig: does not exist$/),
      'ok: cluster gated: Flux applies (mode gate)',
      expect.stringMatching(/^ok: cluster staging: Kubernetes/),
    ])
  })
})
