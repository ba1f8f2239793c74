import { describe, expect, test } from 'vitest'
import { idOf } from '../../../src/kube/object.ts'
import { readRole } from '../../../src/kube/rbac/binding.ts'
import type { AdoptRequest } from '../../../src/tenants/adopt/adoption.ts'
import { planAdoption } from '../../../src/tenants/adopt/plan-adoption.ts'
import { evaluationOf, type Files, said } from '../../fleet/fleet-of.ts'
import { adoptable, homeFleet, kustomization, object, URL, withFiles } from './adoptable.ts'

const plan = (files: Files, request: Partial<AdoptRequest> = {}) =>
  planAdoption(adoptable(files), { name: 'web', ...request })

/** Rules of the result as `<namespace>: verbs resources [names]`. */
function rulesOf(files: Files, changed: ReturnType<typeof plan>): string[] {
  const { fleet } = adoptable(withFiles(files, changed.files))
  return fleet.nodes
    .flatMap(node => node.objects)
    .filter(one => idOf(one).name === changed.account)
    .flatMap(one => {
      const role = readRole(one)
      return (role?.rules ?? []).map(({ verbs, resources, resourceNames }) =>
        `${role?.namespace || '*'}: ${verbs.join(',')} ${resources.join(',')} ${resourceNames.join(',')}`.trim(),
      )
    })
    .sort()
}

describe('an account for a Kustomization that runs as cluster-admin', () => {
  test('has the verbs of what is rendered, by name where others have objects too', () => {
    const files = homeFleet()
    const found = plan(files)
    expect(found.proven).toEqual([
      {
        key: 'home/flux-system/web',
        user: 'system:serviceaccount:flux-system:flux-web',
        objects: 9,
        requests: expect.any(Number),
      },
    ])
    expect(rulesOf(files, found)).toEqual([
      '*: get,create,patch,delete priorityclasses web',
      '*: get,patch,delete namespaces web',
      'monitoring: get,create,patch,delete configmaps dashboard',
      'web: bind clusterroles view',
      'web: bind,escalate roles web',
      'web: get,create,patch,delete configmaps,serviceaccounts',
      'web: get,create,patch,delete deployments',
      'web: get,create,patch,delete rolebindings,roles',
      'web: list pods',
      'web: list replicasets',
    ])
  })

  test('is written beside its Kustomization, whose other lines stay', () => {
    const { files } = plan(homeFleet())
    expect(files.map(({ path, change }) => `${change} ${path}`)).toEqual([
      'created clusters/home/apps/flux-web.yaml',
      'edited clusters/home/apps/web.yaml',
    ])
    expect(files[1]?.content).toBe(
      kustomization('web', './apps/web', '  wait: true\n').replace(
        'spec:\n',
        'spec:\n  serviceAccountName: flux-web\n',
      ),
    )
  })

  test('an account that is cluster-admin by its name is exchanged', () => {
    const text = kustomization('web', './apps/web', '  serviceAccountName: kustomize-controller # all\n')
    const { files, proven } = plan(homeFleet({ 'clusters/home/apps/web.yaml': text }))
    expect(files[1]?.content).toBe(text.replace('kustomize-controller', 'flux-web'))
    expect(proven).toHaveLength(1)
  })

  test('rights beyond namespaces, and rights to grant rights, are said', () => {
    expect(plan(homeFleet()).loud).toEqual([
      'ClusterRole flux-web: get, patch, delete namespaces named web',
      'ClusterRole flux-web: get, create, patch, delete priorityclasses named web',
      'flux-web: bind clusterroles named view: bindings in git can give these roles in web to anyone',
      'flux-web: bind, escalate roles named web: these roles can be given any right in web by a change in git',
    ])
  })

  test('the fleet passes as before', () => {
    const files = homeFleet()
    const given = { url: URL, fleet: withFiles(files, plan(files).files) }
    expect(said(evaluationOf(given, { base: { url: URL, fleet: files } }))).toEqual([])
  })

  test('nothing is deleted by what does not prune, and nothing watched by what does not wait', () => {
    const files = homeFleet({
      'clusters/home/apps/web.yaml': kustomization('web', './apps/web').replace('prune: true', 'prune: false'),
    })
    const rules = rulesOf(files, plan(files)).join('\n')
    expect(rules).not.toMatch(/delete|list/)
  })

  test('health checks are read, also those of objects that something else makes', () => {
    const checks = '  healthChecks: [{apiVersion: apps/v1, kind: StatefulSet, name: db, namespace: data}]\n'
    const files = homeFleet({ 'clusters/home/apps/web.yaml': kustomization('web', './apps/web', checks) })
    expect(rulesOf(files, plan(files)).filter(rule => rule.startsWith('data'))).toEqual([
      'data: get statefulsets',
      'data: list pods',
    ])
  })
})

describe('the layout of the fleet', () => {
  test('each cluster that has a Kustomization of that name gets the account', () => {
    const home = homeFleet()
    const both = Object.entries(home).filter(([path]) => path.startsWith('clusters/home/'))
    const away = both.map(([path, text]) => [
      path.replace('clusters/home', 'clusters/away'),
      text.replaceAll('./clusters/home', './clusters/away'),
    ])
    const { files, proven, loud } = plan({ ...home, ...Object.fromEntries(away) })
    // what another cluster has in a namespace of that name is not shared
    expect(loud).toEqual(plan(home).loud)
    expect(files.map(({ path }) => path)).toEqual([
      'clusters/away/apps/flux-web.yaml',
      'clusters/away/apps/web.yaml',
      'clusters/home/apps/flux-web.yaml',
      'clusters/home/apps/web.yaml',
    ])
    expect(proven.map(({ key }) => key)).toEqual(['away/flux-system/web', 'home/flux-system/web'])
  })

  test('a kustomization file lists the new file', () => {
    const list = 'resources:\n  - ./web.yaml\n  - ./monitoring.yaml\n'
    const { files } = plan(homeFleet({ 'clusters/home/apps/kustomization.yaml': list }))
    expect(files.find(({ path }) => path.endsWith('kustomization.yaml'))?.content).toBe(`${list}  - ./flux-web.yaml\n`)
  })

  test('a folder that moves its objects into one namespace is passed over', () => {
    const { files } = plan(
      homeFleet({
        'clusters/home/apps/kustomization.yaml': 'namespace: flux-system\nresources:\n- web.yaml\n- monitoring.yaml\n',
      }),
    )
    expect(files.map(({ path }) => path)).toEqual(['clusters/home/apps/web.yaml', 'clusters/home/flux-web.yaml'])
  })

  test('where every folder changes it, nothing is written', () => {
    const files = homeFleet({
      'clusters/home/kustomization.yaml': 'namespace: flux-system\nresources: [apps, flux-system]\n',
      'clusters/home/apps/kustomization.yaml': 'resources: [web.yaml, monitoring.yaml]\n',
    })
    expect(() => plan(files)).toThrow(/the account cannot be added to this layout/)
  })

  test('a Kustomization whose text cannot be edited with certainty is left to people', () => {
    const windows = kustomization('web', './apps/web').replaceAll('\n', '\r\n')
    expect(() => plan(homeFleet({ 'clusters/home/apps/web.yaml': windows }))).toThrow(
      /Kustomization flux-system\/web: spec.serviceAccountName cannot be added to its text/,
    )
  })
})

describe('what is not known is never guessed', () => {
  test('a kind without a definition', () => {
    const files = homeFleet({ 'apps/web/other.yaml': object('acme.example/v1', 'Widget', 'a', 'web') })
    expect(() => plan(files)).toThrow(/Widget web\/a: the fleet has no CustomResourceDefinition of Widget/)
    const definition = `spec: {group: acme.example, scope: Namespaced, names: {kind: Widget, plural: widgetz}}\n`
    const known = homeFleet({
      ...files,
      'apps/monitoring/crd.yaml': object(
        'apiextensions.k8s.io/v1',
        'CustomResourceDefinition',
        'widgetz.acme.example',
        '',
        definition,
      ),
    })
    expect(rulesOf(known, plan(known))).toContain('web: get,create,patch,delete widgetz')
  })

  test('what a chart renders: its HelmRelease stays as it is', () => {
    const release = 'spec: {interval: 1m, chartRef: {kind: OCIRepository, name: chart}}\n'
    const files = homeFleet({
      'apps/web/release.yaml': object('helm.toolkit.fluxcd.io/v2', 'HelmRelease', 'redis', 'web', release),
    })
    expect(plan(files).left).toEqual([
      'HelmRelease web/redis: its controller still applies it as itself. What its chart or module renders is not visible',
    ])
  })

  test('a source that was not given', () => {
    const source = object(
      'source.toolkit.fluxcd.io/v1',
      'GitRepository',
      'team',
      'flux-system',
      "spec: {interval: 1m, url: 'https://github.com/acme/team', ref: {branch: main}}\n",
    )
    const text = kustomization('web', './').replace('name: flux-system\n', 'name: team\n')
    const files = homeFleet({
      'clusters/home/apps/web.yaml': text.replace(/(GitRepository\n {4}name: ).*/, '$1team'),
      'clusters/home/apps/source.yaml': source,
    })
    expect(() => plan(files)).toThrow(/home\/flux-system\/web: what it applies is not visible/)
  })
})

describe('nothing to adopt', () => {
  const rows: readonly [why: string, files: Files, request: Partial<AdoptRequest>, message: RegExp][] = [
    ['no such name', homeFleet(), { name: 'shop' }, /"shop": nothing to adopt/],
    [
      'an account already',
      homeFleet({ 'clusters/home/apps/web.yaml': kustomization('web', './apps/web', '  serviceAccountName: web\n') }),
      {},
      /it has the account system:serviceaccount:flux-system:web/,
    ],
    ['the root of the cluster', homeFleet(), { name: 'flux-system' }, /nothing to adopt/],
    [
      'an account that exists',
      homeFleet({ 'apps/monitoring/sa.yaml': object('v1', 'ServiceAccount', 'flux-web', 'flux-system') }),
      {},
      /ServiceAccount flux-system\/flux-web: exists already, in home\/flux-system\/monitoring/,
    ],
    ['a name that is none', homeFleet(), { account: 'A b' }, /"A b": not a valid name of a service account/],
  ]
  test.each(rows)('%s', (_why, files, request, message) => {
    expect(() => plan(files, request)).toThrow(message)
  })
})
