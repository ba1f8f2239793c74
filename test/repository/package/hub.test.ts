import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { renderWithHoles } from '../../../src/flux/render-with-holes.ts'
import { type Json, type MapNode, toJson } from '../../../src/kube/node.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { startCluster, type TestCluster } from '../../../tools/envtest/start.ts'
import { fluxRender } from '../../../tools/oracles/real-programs.ts'
import { treeOf } from '../../base/git/tree-of.ts'
import { run } from '../../surface/cli/run-main.ts'
import { findProgram, programs } from '../runner/programs.ts'

const ROOT = join(import.meta.dirname, '../../..')
const directory = mkdtempSync(join(tmpdir(), 'bailiwick-hub-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules?: readonly Json[]
  readonly roleRef?: Json
  readonly subjects?: Json
}

const rendered = async (folder: string): Promise<Manifest[]> =>
  JSON.parse((await run(ROOT, 'render', join(ROOT, 'deploy', folder), '-o', 'json')).stdout)
const read = (file: string): Manifest[] =>
  parseAllDocuments(readFileSync(join(ROOT, 'deploy', file), 'utf8')).map(one => one.toJS())
const byName = (all: readonly Manifest[]) => [...all].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
const idOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`

test('Flux of a management cluster gives the worker the rights of deploy/worker, and no others', async () => {
  const rights = (all: readonly Manifest[]) =>
    byName(all.filter(({ kind }) => /Role(Binding)?$|^ServiceAccount$/.test(kind)))
  const hub = rights(await rendered('hub'))
  expect(hub).toEqual(rights(await rendered('worker')))
  expect(hub.map(({ kind }) => kind)).toEqual([
    ...['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding', 'ServiceAccount'],
  ])
  const given = read('hub/installer.yaml').flatMap(({ rules = [] }) => rules)
  expect(JSON.stringify(given)).not.toMatch(/"(?:\*|escalate|impersonate|secrets|pods|cluster-admin)"/)
  expect(given.filter(rule => /"bind"/.test(JSON.stringify(rule)))).toEqual([
    expect.objectContaining({ resources: ['clusterroles'], resourceNames: ['bailiwick-worker'], verbs: ['bind'] }),
    expect.objectContaining({ resources: ['roles'], resourceNames: ['bailiwick-inventories'], verbs: ['bind'] }),
  ])
})

test('Flux builds the same as Bailiwick', async ({ skip }) => {
  const program = findProgram('flux-render')
  if (program === undefined) return skip(`no flux-render: ${programs['flux-render'].get}`)
  const text = readFileSync(join(ROOT, 'deploy/hub/flux.yaml'), 'utf8').replace(/path: .*/, 'path: ./deploy/hub')
  const [root] = parseDocuments({ repository: 'fleet', path: 'flux.yaml' }, Buffer.from(text))
  const paths = globSync('deploy/{hub,worker}/*', { cwd: ROOT })
  const tree = treeOf(Object.fromEntries(paths.map(path => [path, readFileSync(join(ROOT, path), 'utf8')])))
  const { objects, holes } = renderWithHoles({ repository: 'fleet', tree }, { root: root as MapNode, trail: [] })
  expect([objects.length, holes]).toEqual([10, []])
  const kustomization = parse(text) as Json
  const flux = fluxRender(program, { root: ROOT, ignore: '/*\n!/deploy\n', kustomization })
  expect(flux).toMatchObject({ objects: expect.any(Array) })
  const all = (flux as unknown as { objects: Manifest[] }).objects
  // the controller's library writes a time that is not set; the API server ignores it
  const timeless = (objects: readonly Manifest[]) =>
    JSON.parse(JSON.stringify(byName(objects), (key, value) => (key === 'creationTimestamp' ? undefined : value)))
  expect(timeless(objects.map(one => toJson(one.root) as unknown as Manifest))).toEqual(timeless(all))
})

test('a fleet that installs a worker on another cluster passes, and its objects are evaluated there', async () => {
  const dir = join(directory, 'acme')
  cpSync(join(ROOT, 'test/fleet/fleets/acme'), dir, { recursive: true })
  const at = join(dir, 'fleet/infrastructure/bailiwick')
  mkdirSync(at, { recursive: true })
  for (const folder of ['worker', 'hub']) cpSync(join(ROOT, 'deploy', folder), join(at, folder), { recursive: true })
  const check = async () => {
    const repos = [
      '--url',
      'https://github.com/acme/fleet',
      '--repo',
      `https://github.com/acme/dev-team=${dir}/dev-team`,
    ]
    const { code, stdout } = await run(dir, 'check', 'fleet', ...repos, '-o', 'json')
    return { code, said: JSON.parse(stdout) }
  }
  const before = await check()
  cpSync(join(at, 'hub/flux.yaml'), join(dir, 'fleet/clusters/staging/bailiwick-worker.yaml'))
  const { code, said } = await check()
  expect({ code, violations: said.violations, errors: said.errors, warnings: said.warnings }).toEqual({
    ...{ code: 0, violations: [], errors: [], warnings: before.said.warnings },
  })
  const objects = (await rendered('hub')).length
  expect(said.evaluated.objects).toBe(before.said.evaluated.objects + objects + 1)
})

const missing = findAssets() ? undefined : NO_ASSETS

describe.skipIf(missing)(`on an API server${missing ? ` (${missing})` : ''}`, () => {
  const INSTALLER = 'system:serviceaccount:flux-system:bailiwick-installer'
  const groups = ['system:serviceaccounts', 'system:serviceaccounts:flux-system', 'system:authenticated']
  let cluster: TestCluster
  beforeAll(async () => {
    cluster = await startCluster({ workerRbac: false })
    await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: 'flux-system' } })
    for (const one of read('hub/installer.yaml')) {
      expect(await apply(one)).toMatchObject({ status: 201 })
    }
  })
  afterAll(() => cluster?.stop())

  const pathOf = ({ apiVersion, kind, metadata }: Manifest) => {
    const plural = `${kind.toLowerCase()}s`.replace('policys', 'policies')
    const within = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`
    return `${apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`}${within}/${plural}/${metadata.name}`
  }
  /** As kustomize-controller: server-side apply, tried before. */
  const apply = (one: Manifest, as: object = {}, query = '') =>
    cluster.request('PATCH', `${pathOf(one)}?fieldManager=kustomize-controller&force=true${query}`, one as never, {
      ...{ contentType: 'application/apply-patch+yaml', ...as },
    })
  const installer = { impersonate: INSTALLER, groups }

  test.each([
    ['ClusterRole', { apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
    ['ClusterRole', { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'] }],
    ['Role', { apiGroups: [''], resources: ['pods'], verbs: ['create'] }],
  ])('a %s that gives the worker more is refused by the API server: %j', async (kind, rule) => {
    const role = (await rendered('hub')).find(one => one.kind === kind)!
    const { status, body } = await apply({ ...role, rules: [...role.rules!, rule] }, installer)
    expect([status, JSON.stringify(body)]).toEqual([
      403,
      expect.stringContaining('is attempting to grant RBAC permissions not currently held'),
    ])
  })

  test('no other role, binding, account or namespace may be written', async () => {
    const all = await rendered('hub')
    for (const kind of [
      'Namespace',
      'ServiceAccount',
      'ClusterRole',
      'ClusterRoleBinding',
      'Role',
      'RoleBinding',
      'Deployment',
    ]) {
      const one = all.find(other => other.kind === kind)!
      const { status } = await apply({ ...one, metadata: { ...one.metadata, name: 'another' } }, installer)
      expect({ kind, status }).toEqual({ kind, status: 403 })
    }
    const binding = all.find(({ kind }) => kind === 'ClusterRoleBinding')!
    const admin = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }
    await cluster.request('DELETE', pathOf(binding))
    expect((await apply({ ...binding, roleRef: admin }, installer)).status).toBe(403)
  })

  test('the account of installer.yaml applies every object, reads it and removes it', async () => {
    const all = await rendered('hub')
    const order = ['Namespace', 'ServiceAccount', 'ClusterRole', 'Role', 'ClusterRoleBinding', 'RoleBinding']
    const sorted = [...all].sort((a, b) => ((order.indexOf(a.kind) + 99) % 99) - ((order.indexOf(b.kind) + 99) % 99))
    for (const query of ['&dryRun=All&fieldValidation=Strict', '&fieldValidation=Strict', '']) {
      for (const one of sorted) {
        const { status, body } = await apply(one, installer, query)
        expect({ one: idOf(one), status, body: status < 300 ? '' : body }).toEqual({
          ...{ one: idOf(one), body: '', status: expect.toSatisfy(code => code === 200 || code === 201) },
        })
      }
    }
    for (const one of [...sorted].reverse()) {
      expect((await cluster.request('GET', pathOf(one), undefined, installer)).status).toBe(200)
      const { status } = await cluster.request('DELETE', pathOf(one), undefined, installer)
      expect({ one: idOf(one), status }).toEqual({ one: idOf(one), status: expect.toBeOneOf([200, 202]) })
    }
  })
})
